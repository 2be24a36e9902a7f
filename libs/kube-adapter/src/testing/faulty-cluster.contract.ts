import { SystemClock } from '@headgate/domain-contracts';
import { RealClock, SkewedClock, type FaultSchedule, type KubeSandbox } from '@headgate/kube-sandbox';

const HOUR_MS = 3_600_000;
const WRITES = ['create', 'update', 'patch', 'delete'];
const VALIDATOR = 'virtualmachine-validator.kubevirt.io';
const VALIDATOR_URL = 'https://virt-api.kubevirt.svc:443/virtualmachines-validate';

/** The clock of a cluster that is an hour ahead of the service, or behind it. */
export const skewedClock = (hours: number): SkewedClock => new SkewedClock(new RealClock(), hours * HOUR_MS);

/** Shortens the pauses between the attempts of a request, so that a suite with many of them takes no minutes. */
export class HurriedClock extends SystemClock {
  override delay(ms: number, signal?: AbortSignal): Promise<void> {
    return super.delay(Math.min(ms, 20), signal);
  }
}

/**
 * Everything that an API server does under load or behind a bad network. The requests of each verb and path are counted
 * separately, so that the same writes meet the same faults on a busy machine, and no request meets more of them than
 * its client has attempts.
 * @param namespace the namespace in which the answers of writes get lost
 */
export function disturb({ faults }: KubeSandbox, namespace: string): void {
  const seed = Number(process.env['HEADGATE_TEST_FAULTS_SEED'] ?? 1);
  const oneOf = (every: number): FaultSchedule => ({ every, seed, per: 'path' });
  faults.overload({ verb: ['get', 'list', ...WRITES] }, oneOf(19));
  faults.overload({ verb: 'watch' }, oneOf(10));
  faults.reset({}, 'before', oneOf(23));
  // Not the access reviews, a hundred at the same time, of which one would lose every answer.
  faults.reset({ verb: WRITES, namespace }, 'unanswered', oneOf(5));
  // An exported disk can't be read on from its middle.
  faults.reset({ verb: ['get', 'list'], subresource: '' }, 'halfway', oneOf(29));
  faults.resetWatches({}, oneOf(17));
  faults.expireWatches({}, oneOf(4));
  faults.expirePages({}, oneOf(2));
  const vms = { resource: 'virtualmachines.kubevirt.io' };
  faults.slowWebhook(vms, { name: VALIDATOR, url: VALIDATOR_URL, delayMs: 50 }, oneOf(2));
  // The attempts of a patch or a deletion are as many as the faults above.
  const late = { name: VALIDATOR, url: VALIDATOR_URL, delayMs: 200, timeoutSeconds: 0.2 };
  faults.slowWebhook({ ...vms, verb: 'create' }, late, oneOf(3));
}
