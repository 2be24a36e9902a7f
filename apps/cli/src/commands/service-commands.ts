import type { FindingView, WhoamiView } from '@headgate/api-contracts';
import { ClientError } from '../client/client-error.js';
import { addressOf } from '../client/server-address.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { Session } from '../session.js';
import type { Presentation } from '../terminal/output.js';
import { printable } from '../terminal/printable.js';
import type { AddCommands } from './command-context.js';

const FINDINGS: Presentation<FindingView> = {
  nameOf: ({ context, name }) => `${context}/${name}`,
  columns: [
    { title: 'STATUS', of: ({ status }) => status },
    { title: 'CONTEXT', of: ({ context }) => context },
    { title: 'CHECK', of: ({ name }) => name },
    { title: 'MESSAGE', of: ({ message, remedy }) => `${message} ${remedy}`.trim() },
    { title: 'SINCE', of: ({ since }) => since, isWide: true },
    { title: 'AFFECTED', of: ({ affectedCount }) => affectedCount || undefined, isWide: true },
  ],
};

/** doctor and whoami. */
export const addServiceCommands: AddCommands = (program, act) => {
  program
    .command('doctor')
    .summary('check the service and its backends')
    .description('Shows the checks of the service and of its backends. The exit code is 1 if one reports an error.')
    .action(act(doctor));
  program
    .command('whoami')
    .summary('show who you are for the service')
    .description('Shows the address of the service, and who you are there.')
    .action(act(whoami));
};

async function doctor(session: Session): Promise<void> {
  const findings = await (await session.api()).get('/api/ext/doctor');
  await session.output.list(findings, FINDINGS);
  const errors = findings.filter(({ status }) => status === 'error').length;
  if (errors > 0)
    throw new ClientError('UNHEALTHY', `${errors} of ${findings.length} checks report an error.`, EXIT_CODES.failed);
}

async function whoami(session: Session): Promise<void> {
  const api = await session.api();
  const caller = await api.get('/api/whoami');
  const server = addressOf(api.http.access.url);
  await session.output.value({ server, ...caller }, () => describe(server, caller), caller.login);
}

function describe(server: string, { login, name, admin, token, roles = [] }: WhoamiView): string {
  const who = login === '' ? 'a caller without a login' : `${login}${name === '' ? '' : ` (${name})`}`;
  const rights =
    roles.length > 0
      ? roles.map(({ role, folder }) => `${role} of ${folder}`).join(', ')
      : admin
        ? 'administrator'
        : 'reader';
  const lines = [`Server: ${server}`, `Caller: ${who}`, `Rights: ${rights}`, ...(token ? [`Token:  ${token}`] : [])];
  return lines.map((line) => `${printable(line)}\n`).join('');
}
