import { messageOf, type DiagnosticCheck } from '@headgate/domain-contracts';
import { CHECK_TITLES } from './check-titles.js';

/** The result of a check. An absent remedy is empty, and an absent `fixable` is false. */
export interface CheckOutcome {
  readonly status: DiagnosticCheck['status'];
  readonly message: string;
  readonly fixable?: boolean;
  readonly remedy?: string;
}

/** Runs one check. A check that throws reports the error as its result. */
export async function check(name: string, run: () => Promise<CheckOutcome> | CheckOutcome): Promise<DiagnosticCheck> {
  try {
    const { status, message, fixable = false, remedy = '' } = await run();
    return { name, status, message, fixable, remedy, ...(status !== 'ok' && titleOf(name)) };
  } catch (error) {
    return {
      name,
      status: 'error',
      message: messageOf(error),
      fixable: false,
      remedy: 'Fix the reported problem.',
      ...titleOf(name),
    };
  }
}

/** The title of a check that does not pass. */
export const titleOf = (name: string): Pick<DiagnosticCheck, 'title'> => {
  const title = CHECK_TITLES[name];
  return title === undefined ? {} : { title };
};
