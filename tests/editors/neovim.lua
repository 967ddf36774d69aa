-- nvim --clean -l neovim.lua: a turn over Neovim's own JSON-RPC client. PAIRD_SOCKET, PAIRD_MODEL and PAIRD_FILE say what.
local finished
local rpc = vim.lsp.rpc.connect(vim.env.PAIRD_SOCKET)({
  notification = function(method, params)
    if method == 'event' and params.kind == 'turn.finished' then finished = params end
  end,
  on_error = function(code, err) io.stderr:write(('error %s: %s\n'):format(code, vim.inspect(err))) end,
})

local function call(method, params)
  local answer
  rpc.request(method, params, function(err, result) answer = { err = err, result = result } end)
  assert(vim.wait(5000, function() return answer end, 10), method .. ' was not answered')
  return assert(answer.result, vim.inspect(answer.err))
end

call('initialize', { clientName = 'neovim' })
local session = call('session/new', { model = vim.env.PAIRD_MODEL, files = { vim.env.PAIRD_FILE } })
call('events/subscribe', { sessionId = session.sessionId })
call('session/prompt', { sessionId = session.sessionId, text = 'Greet the world.' })
assert(vim.wait(10000, function() return finished end, 10), 'no turn.finished')
call('shutdown', vim.empty_dict())
assert(finished.outcome == 'done', vim.inspect(finished))
