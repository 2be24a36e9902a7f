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

/** Users wait for the checks, and one context that hangs must not keep the others from them. */
const CHECKS_TIMEOUT_MS = 60_000;

/** Runs the checks of every backend that has diagnostics. */
export class CheckBackends {
  /** @param timeoutMs how long the checks of a context may take before they count as failed */
  constructor(
    private readonly backends: BackendDirectory,
    private readonly timeoutMs = CHECKS_TIMEOUT_MS,
  ) {}

  async run(): Promise<ContextCheck[]> {
    return (await Promise.all(this.backends.all().map((backend) => this.of(backend)))).flat();
  }

  /** The checks of one context. */
  of(backend: Backend): Promise<ContextCheck[]> {
    return checksOf(backend, this.timeoutMs);
  }
}

/** Diagnostics that throw become a failed check, so that they don't hide the checks of the other backends. */
async function checksOf(backend: Backend, timeoutMs: number): Promise<ContextCheck[]> {
  const { context } = backend;
  const diagnostics = backend.ability('diagnostics');
  if (diagnostics instanceof UnavailableAbility) return [];
  try {
    const checks = await answerWithin(diagnostics.checks(), timeoutMs);
    return checks.map((check) => ({ ...withPlainTexts(check), context }));
  } catch (error) {
    const message = messageOf(error);
    return [{ name: 'diagnostics', title: TITLE, status: 'error', message, fixable: false, remedy: '', context }];
  }
}

const TITLE = "The checks can't be carried out";

/** @throws Error when there is no answer in time */
async function answerWithin<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The checks have not ended within ${timeoutMs / 1000} seconds.`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Checks quote what a cluster or a program reports. */
const withPlainTexts = (check: DiagnosticCheck): DiagnosticCheck => ({
  ...check,
  name: plainText(check.name),
  message: plainText(check.message),
  remedy: plainText(check.remedy),
  ...(check.title !== undefined && { title: plainText(check.title) }),
});
