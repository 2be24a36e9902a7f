import type { Backend } from '@headgate/domain-contracts';
import { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness, OpenHarness } from './backend-harness.js';
import { Releases } from './releases.js';

/** A harness that is open, and further things of the same suite. All of them are closed after its tests. */
export interface OpenedSuite {
  readonly harness: BackendHarness;
  /** A recorder that has received the complete list. */
  recorder(): Promise<InventoryRecorder>;
  /** A backend of the same kind whose engine does not answer. */
  unreachable(): Promise<Backend>;
}

export interface ContractTests {
  /** Defines a test with the time limit of the suite. */
  inTime(title: string, rule: () => Promise<void> | void): void;
  /** Runs after the current test, even if the test fails. */
  afterTest(release: () => unknown): void;
}

/**
 * Opens a harness before the tests of the surrounding `describe` and closes it after them, even if opening it failed or
 * took longer than the time limit: anything left open would keep jest from exiting.
 * @param setUp takes what the tests need from the harness
 */
export function contractTests(
  open: OpenHarness,
  timeoutMs: number,
  setUp: (opened: OpenedSuite) => Promise<void> | void,
): ContractTests {
  const ofSuite = new Releases();
  let ofTest = new Releases();
  let harness: BackendHarness | undefined;

  beforeAll(async () => {
    const opened = await ofSuite.open(open, (it) => it.close());
    harness = opened;
    await setUp({
      harness: opened,
      async recorder() {
        const recorder = InventoryRecorder.over(opened.backend.require('inventory'));
        ofSuite.add(() => recorder.stop());
        await recorder.whenListed();
        return recorder;
      },
      unreachable: () =>
        ofSuite.open(
          () => opened.openUnreachable(),
          (it) => it.close(),
        ),
    });
  }, timeoutMs);
  afterEach(async () => {
    const ended = ofTest;
    ofTest = new Releases();
    await ended.releaseAll();
    await harness?.tidy?.();
  }, timeoutMs);
  afterAll(() => ofSuite.releaseAll(), timeoutMs);

  return {
    inTime: (title, rule) => test(title, async () => rule(), timeoutMs),
    afterTest: (release) => ofTest.add(release),
  };
}
