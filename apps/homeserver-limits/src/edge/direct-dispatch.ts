import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Dispatcher } from './dispatcher.js';
import { isMetricsRequest } from './matrix-adapter.js';

/**
 * Hands Matrix requests to the dispatcher without the framework, whose routing, request objects and hooks they don't
 * use. The metrics keep their route.
 */
export function dispatchDirectly(server: Server, dispatcher: Dispatcher, hasMetrics: boolean): void {
  const framework = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (hasMetrics && isMetricsRequest(request)) {
      for (const listener of framework) listener.call(server, request, response);
      return;
    }
    // A server that shuts down completes the request and closes the connection.
    if (!server.listening) response.shouldKeepAlive = false;
    void dispatcher.dispatch(request, response, request.url ?? '');
  });
}
