import { t } from '@lingui/core/macro';
import { Icon } from '../../../shared/ui/icon.js';
import type { IconName } from '../../../icons.js';
import {
  unavailableReason,
  useCapabilities,
  type ContextCapabilities,
} from '../../../shared/queries/use-capabilities.js';
import { Button } from '../../../shared/ui/button.js';
import { Copyable } from '../../../shared/ui/copy.js';
import { ContextFacts } from './context-facts.js';
import { FirstContainers } from './first-containers.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

interface Way {
  readonly title: string;
  readonly icon: IconName;
  readonly text: string;
  readonly has: (context: ContextCapabilities) => boolean;
  /** The command that starts the service this way. */
  readonly command: string;
}

/** From the nearest to the one that needs nothing. */
const ways = perLanguage((): readonly Way[] => [
  {
    title: t`This computer`,
    icon: 'machine',
    text: t`Runs machines on this host with libvirt. Good for trying it out, and for a single host.`,
    has: ({ isSingleHost, simulated }) => isSingleHost && !simulated,
    command: 'npm start -- --local',
  },
  {
    title: t`A cluster or other hosts`,
    icon: 'node',
    text: t`KubeVirt clusters, and libvirt hosts over SSH, from a file that lists them.`,
    has: ({ isSingleHost, simulated }) => !isSingleHost && !simulated,
    command: 'npm start -- --config headgate.yaml',
  },
  {
    title: t`Look around first`,
    icon: 'eye',
    text: t`A simulated fleet with a history. Every button works; nothing is real.`,
    has: ({ simulated }) => simulated,
    command: 'npm start -- --sandbox=500',
  },
]);

const runsVms = (context: ContextCapabilities): boolean => unavailableReason(context, 'provisioning') === undefined;

/** The first thing a new operator sees: three ways to a first machine, one of which can be used at once. */
export function FirstRun({ onCreate, refusal }: { onCreate: () => void; refusal?: string | undefined }) {
  const { data } = useCapabilities();
  const all = data?.contexts ?? [];
  const contexts = all.filter(runsVms);
  const others = all.filter((context) => !runsVms(context));
  const usable = ways().find(({ has }) => contexts.some((context) => context.up && has(context)));
  const best = usable ?? (others.length === 0 ? ways()[0] : undefined);
  const cards = ways().map((way) => (
    <li key={way.title} className="hg-first-way" data-best={way === best}>
      <Icon name={way.icon} />
      <h3>{way.title}</h3>
      <p>{way.text}</p>
      <ContextFacts contexts={contexts.filter(way.has)} />
      {way === best ? (
        <div className="hg-first-action">
          <Button onClick={onCreate} isDisabled={refusal !== undefined}>
            {t`Create VM`}
          </Button>
          {refusal && <p>{refusal}</p>}
        </div>
      ) : (
        <div className="hg-first-action hg-note">
          {contexts.some(way.has) ? t`Choose the context on the page that creates the VM.` : t`Start Headgate with`}
          {!contexts.some(way.has) && <Copyable text={way.command} what={t`the command`} />}
        </div>
      )}
    </li>
  ));
  return (
    <div className="hg-first-run">
      <h2>{t`No virtual machines yet`}</h2>
      <p className="hg-note">
        {t`Where should the first one run? You can add the others later. Nothing is installed or changed until you confirm.`}
      </p>
      <ul>
        {cards[0]}
        <FirstContainers contexts={others} refusal={refusal} />
        {cards.slice(1)}
      </ul>
    </div>
  );
}
