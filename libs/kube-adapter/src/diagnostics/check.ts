import { messageOf, type DiagnosticCheck } from '@headgate/domain-contracts';

/** What a check found; what is left out is empty. */
export interface CheckOutcome {
  readonly status: DiagnosticCheck['status'];
  readonly message: string;
  readonly fixable?: boolean;
  readonly remedy?: string;
}

/** Runs one check; one that fails by itself is one that found an error. */
export async function check(name: string, look: () => Promise<CheckOutcome> | CheckOutcome): Promise<DiagnosticCheck> {
  try {
    const { status, message, fixable = false, remedy = '' } = await look();
    return { name, status, message, fixable, remedy };
  } catch (error) {
    return { name, status: 'error', message: messageOf(error), fixable: false, remedy: 'Mend what the message names.' };
  }
}
