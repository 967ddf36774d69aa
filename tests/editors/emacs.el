;;; emacs -Q --batch -l emacs.el: a turn over jsonrpc.el.  PAIRD_SOCKET, PAIRD_MODEL and PAIRD_FILE say what.  -*- lexical-binding: t -*-
(require 'jsonrpc)

(let* ((finished nil)
       (connection
        (make-instance
         'jsonrpc-process-connection
         :name "paird"
         :process (lambda ()
                    (make-network-process :name "paird" :family 'local :service (getenv "PAIRD_SOCKET")
                                          :coding 'utf-8-emacs-unix))
         :notification-dispatcher (lambda (_connection method params)
                                    (when (and (eq method 'event) (equal (plist-get params :kind) "turn.finished"))
                                      (setq finished params)))))
       (call (lambda (method params) (jsonrpc-request connection method params :timeout 5))))
  (funcall call :initialize '(:clientName "emacs"))
  (let ((session (plist-get (funcall call :session/new `(:model ,(getenv "PAIRD_MODEL") :files [,(getenv "PAIRD_FILE")]))
                            :sessionId)))
    (funcall call :events/subscribe nil)
    (funcall call :session/prompt `(:sessionId ,session :text "Greet the world.")))
  (with-timeout (10 (error "No turn.finished"))
    (while (not finished) (accept-process-output nil 0.05)))
  (funcall call :shutdown nil)
  (unless (equal (plist-get finished :outcome) "done") (error "%S" finished)))
