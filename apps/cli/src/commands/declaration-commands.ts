import type { PatchedView } from '@headgate/api-contracts';
import type { ApiClient } from '../client/api-client.js';
import { ClientError } from '../client/client-error.js';
import { readDeclarations, type Declaration } from '../declarations/declaration.js';
import { EXIT_CODES } from '../exit-codes.js';
import { ctExtension, vmExtension } from '../instances/instance.js';
import { formatPlan, type ShownPlan } from '../plans/plan.js';
import { runChanges, type Change, type ChangeOptions } from '../plans/run-changes.js';
import type { Session } from '../session.js';
import { withChangeOptions, type AddCommands } from './command-context.js';

interface Flags extends ChangeOptions {
  readonly file: string;
  readonly restart?: boolean;
  readonly exitCode?: boolean;
}

/** apply and diff. */
export const addDeclarationCommands: AddCommands = (program, act) => {
  const file = ['-f, --file <file>', 'YAML with one or several documents; - reads standard input'] as const;
  withChangeOptions(
    program
      .command('apply')
      .summary('change instances to match their declarations')
      .description(
        'Changes existing VMs and containers to match a file: all are planned before the first is changed, and applying it again changes nothing. A document has kind, namespace, name, optionally context, and the fields of PATCH: cpu, mem, tags, labels, protected, autostart.',
      )
      .requiredOption(...file)
      .option('--no-restart', 'a new size that a running guest can not apply waits for its next start'),
  ).action(act(apply));
  program
    .command('diff')
    .summary('show what apply would change')
    .description('Shows the plan for each declaration of a file, and changes nothing.')
    .requiredOption(...file)
    .option('--no-restart', 'as for apply')
    .option('--exit-code', `exit with ${EXIT_CODES.differences} if something differs`)
    .action(act(diff));
};

async function apply(session: Session, flags: Flags): Promise<void> {
  const api = await session.api();
  const declarations = await readDeclarations(flags.file, session.environment.stdin);
  const changes = declarations.map((declaration) => changeFor(api, declaration, flags));
  // Refuses the whole file before the first change, also where nothing is asked.
  if (flags.yes && !flags.dryRun) await expectAllPossible(changes);
  await runChanges(session, changes, flags);
}

async function expectAllPossible(changes: readonly Change[]): Promise<void> {
  for (const change of changes) {
    const { refusals } = await change.plan();
    const [first] = refusals;
    if (first)
      throw new ClientError(
        first.code,
        `${change.title}: ${first.reason} ${first.remedy}`.trim() + ' Nothing was changed.',
        EXIT_CODES.refused,
      );
  }
}

async function diff(session: Session, flags: Flags): Promise<void> {
  const api = await session.api();
  const declarations = await readDeclarations(flags.file, session.environment.stdin);
  const plans: { target: string; title: string; plan: ShownPlan }[] = [];
  for (const declaration of declarations) {
    const { target, title, plan } = changeFor(api, declaration, flags);
    plans.push({ target, title, plan: await plan() });
  }
  await session.output.value(
    plans.map(({ target, plan }) => ({ target, ...plan })),
    () => plans.map(({ title, plan }) => formatPlan(title, plan)).join(''),
  );
  const refused = plans.find(({ plan }) => plan.refusals.length > 0);
  if (refused) {
    const { code, reason } = refused.plan.refusals[0]!;
    throw new ClientError(code, `${refused.title}: ${reason}`, EXIT_CODES.refused);
  }
  if (flags.exitCode && plans.some(({ plan }) => plan.steps.length > 0))
    throw new ClientError('DIFFERENT', 'Something differs from its declaration.', EXIT_CODES.differences);
}

function changeFor(api: ApiClient, declaration: Declaration, { restart }: Flags): Change {
  const { kind, context, namespace, name, fields, where } = declaration;
  const address = { kind, context: context ?? '', namespace, name };
  const query = context === undefined ? {} : { context };
  // The service checks the fields and names the one that is wrong; its types describe the right ones.
  const body = fields as object;
  const vmQuery = restart === false ? { ...query, restart } : query;
  const patch = async (dryRun: boolean): Promise<unknown> => {
    try {
      return kind === 'vm'
        ? await api.patch(vmExtension(address), {
            query: { ...vmQuery, ...(dryRun ? { dryRun } : {}) },
            body,
          } as object)
        : await api.patch(ctExtension(address), { query: { ...query, ...(dryRun ? { dryRun } : {}) }, body } as object);
    } catch (error) {
      if (error instanceof ClientError && error.exitCode !== EXIT_CODES.interrupted)
        throw new ClientError(error.code, `${where}: ${error.message}`, error.exitCode, error.details);
      throw error;
    }
  };
  return {
    target: `${kind}/${context === undefined ? '' : `${context}/`}${namespace}/${name}`,
    title: `Apply ${name}`,
    plan: () => patch(true) as Promise<ShownPlan>,
    run: async () => {
      const { changed, effect } = (await patch(false)) as PatchedView;
      return { status: changed.length === 0 ? 'unchanged' : `changed ${changed.join(', ')} (${effect})` };
    },
  };
}
