import type { Admission, RequestRecorder, RuleFacts, RuleRefusal } from '@headgate/limit-rules';
import type { RateLimiter } from '@headgate/limits-core';
import type { LiveConfig } from '../config/live-config.js';
import type { MainLink } from '../link/protocol.js';
import { ADMITTED, Rules } from './rules.js';

const NO_LISTENER = { onGranted: () => undefined, onRefused: () => undefined };
/** The main process records. The facts have to be complete nevertheless. */
const NO_RECORDER: RequestRecorder = { onDecided: () => 0, onSettled: () => undefined };

/** The rules in a worker: the main process decides, because it has the windows of all workers. */
export class RemoteRules extends Rules {
  /** @param windows has the names of the rates, and counts nothing */
  constructor(
    windows: RateLimiter,
    config: LiveConfig,
    private readonly main: MainLink,
  ) {
    const { log, operator } = config.current;
    super(windows, config, NO_LISTENER, {
      recorder: log.requests_file === undefined ? undefined : NO_RECORDER,
      observer: operator.listen === undefined ? undefined : NO_RECORDER,
    });
  }

  /** @throws ChannelClosed: nothing is admitted while nothing can be counted */
  override decide(facts: readonly RuleFacts[]): Admission | Promise<Admission | RuleRefusal> {
    if (!this.isRecording && !facts.some(({ event }) => this.countsAny(event))) return ADMITTED;
    return this.ask(facts);
  }

  private async ask(facts: readonly RuleFacts[]): Promise<Admission | RuleRefusal> {
    const { held, refusal } = await this.main.call('admit', facts);
    if (refusal) return refusal;
    if (held === undefined) return ADMITTED;
    // The response waits for it: the caller's next request may reach another worker.
    return { granted: true, settle: (outcome) => this.main.call('settle', { held, outcome }) };
  }
}
