import type { CheckView } from '@headgate/api-contracts';
import { UnavailableAbility, messageOf, type Backend, type BackendDirectory } from '@headgate/domain-contracts';

/** Finds out what is wrong with each backend. */
export class CheckBackends {
  constructor(private readonly backends: BackendDirectory) {}

  async run(): Promise<CheckView[]> {
    return (await Promise.all(this.backends.all().map(checksOf))).flat();
  }
}

/** Diagnostics that break are a check that failed: they hide no other backend's. */
async function checksOf(backend: Backend): Promise<CheckView[]> {
  const { context } = backend;
  const diagnostics = backend.ability('diagnostics');
  if (diagnostics instanceof UnavailableAbility) return [];
  try {
    return (await diagnostics.checks()).map((check) => ({ ...check, context }));
  } catch (error) {
    return [{ name: 'diagnostics', status: 'error', message: messageOf(error), fixable: false, remedy: '', context }];
  }
}
