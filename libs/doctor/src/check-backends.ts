import {
  messageOf,
  plainText,
  UnavailableAbility,
  type Backend,
  type BackendDirectory,
  type DiagnosticCheck,
} from '@headgate/domain-contracts';

/** A check with the context that it belongs to. */
export interface ContextCheck extends DiagnosticCheck {
  readonly context: string;
}

/** Runs the checks of every backend that has diagnostics. */
export class CheckBackends {
  constructor(private readonly backends: BackendDirectory) {}

  async run(): Promise<ContextCheck[]> {
    return (await Promise.all(this.backends.all().map(checksOf))).flat();
  }
}

/** Diagnostics that throw become a failed check, so that they don't hide the checks of the other backends. */
async function checksOf(backend: Backend): Promise<ContextCheck[]> {
  const { context } = backend;
  const diagnostics = backend.ability('diagnostics');
  if (diagnostics instanceof UnavailableAbility) return [];
  try {
    return (await diagnostics.checks()).map((check) => ({ ...withPlainTexts(check), context }));
  } catch (error) {
    return [{ name: 'diagnostics', status: 'error', message: messageOf(error), fixable: false, remedy: '', context }];
  }
}

/** Checks quote what a cluster or a program reports. */
const withPlainTexts = (check: DiagnosticCheck): DiagnosticCheck => ({
  ...check,
  name: plainText(check.name),
  message: plainText(check.message),
  remedy: plainText(check.remedy),
});
