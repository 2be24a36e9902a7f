import { once } from 'node:events';
import { ClientError } from '../client/client-error.js';
import { McpBridge } from '../mcp/mcp-bridge.js';
import type { Session } from '../session.js';
import { interruption } from '../terminal/prompt.js';
import type { AddCommands } from './command-context.js';

/** mcp. */
export const addMcpCommand: AddCommands = (program, act) => {
  program
    .command('mcp')
    .summary('connect an agent over standard input and output')
    .description(
      'Copies messages of the Model Context Protocol between an agent, on standard input and output, and the service. The API token of the context or of HEADGATE_TOKEN needs a leash: the agent only reads, and changes what it has rehearsed. Ends with its standard input.',
    )
    .action(act(mcp));
};

async function mcp(session: Session): Promise<void> {
  const { environment, output } = session;
  const { http } = await session.api();
  if (http.access.token === undefined)
    throw ClientError.usage('mcp needs an API token with a leash: add it to the context, or set HEADGATE_TOKEN.');
  const bridge = new McpBridge({
    http,
    stdin: environment.stdin,
    write: async (line) => {
      if (!environment.stdout.write(line)) await once(environment.stdout, 'drain');
    },
    note: (text) => output.note(text),
    signal: environment.interrupted,
  });
  await bridge.run();
  if (environment.interrupted.aborted) throw interruption();
}
