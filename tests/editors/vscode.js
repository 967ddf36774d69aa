// node vscode.js: a turn over vscode-jsonrpc. PAIRD_SOCKET, PAIRD_MODEL and PAIRD_FILE say what.
const assert = require('node:assert');
const net = require('node:net');
const { createMessageConnection, SocketMessageReader, SocketMessageWriter } = require('vscode-jsonrpc/node');

async function main() {
  const { PAIRD_SOCKET, PAIRD_MODEL, PAIRD_FILE } = process.env;
  const socket = net.connect(PAIRD_SOCKET);
  const connection = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
  const finished = new Promise((resolve) => {
    connection.onNotification('event', (event) => event.kind === 'turn.finished' && resolve(event));
  });
  connection.listen();

  await connection.sendRequest('initialize', { clientName: 'vscode-jsonrpc' });
  const { sessionId } = await connection.sendRequest('session/new', { model: PAIRD_MODEL, files: [PAIRD_FILE] });
  await connection.sendRequest('events/subscribe', { sessionId });
  await connection.sendRequest('session/prompt', { sessionId, text: 'Greet the world.' });
  const { outcome, error } = await finished;
  assert.equal(outcome, 'done', JSON.stringify(error));
  await connection.sendRequest('shutdown');
}

main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
