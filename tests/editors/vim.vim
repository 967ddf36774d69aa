" vim -Nu NONE -n -es -S vim.vim: a turn over a channel in mode lsp. PAIRD_SOCKET, PAIRD_MODEL and PAIRD_FILE say what.
func On(channel, message)
  if a:message.method ==# 'event' && a:message.params.kind ==# 'turn.finished'
    let g:finished = a:message.params
  endif
endfunc

func Call(method, params)
  let answer = ch_evalexpr(g:channel, #{method: a:method, params: a:params}, #{timeout: 5000})
  if !has_key(answer, 'result')
    throw a:method .. ': ' .. string(answer)
  endif
  return answer.result
endfunc

try
  let channel = ch_open('unix:' .. $PAIRD_SOCKET, #{mode: 'lsp', callback: 'On'})
  call Call('initialize', #{clientName: 'vim'})
  let session = Call('session/new', #{model: $PAIRD_MODEL, files: [$PAIRD_FILE]}).sessionId
  call Call('events/subscribe', #{sessionId: session})
  call Call('session/prompt', #{sessionId: session, text: 'Greet the world.'})
  let waits = 0
  while !exists('g:finished') && waits < 200
    sleep 50m
    let waits += 1
  endwhile
  call Call('shutdown', {})
  if get(g:, 'finished', {})->get('outcome', 'none') ==# 'done'
    qall!
  endif
  throw 'turn.finished: ' .. string(get(g:, 'finished', 'not received'))
catch
  call writefile([v:exception], '/dev/stderr')
  cquit!
endtry
