import { Icon } from '../../../shared/ui/icon.js';
import type { IconName } from '../../../icons.js';
import { useCapabilities, type ContextCapabilities } from '../../../shared/queries/use-capabilities.js';
import { Button } from '../../../shared/ui/button.js';
import { Copyable } from '../../../shared/ui/copy.js';

interface Way {
  readonly title: string;
  readonly icon: IconName;
  readonly text: string;
  readonly has: (context: ContextCapabilities) => boolean;
  /** The command that starts the service this way. */
  readonly command: string;
}

/** From the nearest to the one that needs nothing. */
const WAYS: readonly Way[] = [
  {
    title: 'This computer',
    icon: 'machine',
    text: 'Machines run here with libvirt. Good for a first try and for one host.',
    has: ({ isSingleHost, simulated }) => isSingleHost && !simulated,
    command: 'npm start -- --local',
  },
  {
    title: 'A cluster or other hosts',
    icon: 'node',
    text: 'KubeVirt clusters, and libvirt hosts over SSH, from a file that lists them.',
    has: ({ isSingleHost, simulated }) => !isSingleHost && !simulated,
    command: 'npm start -- --config headgate.yaml',
  },
  {
    title: 'Look around first',
    icon: 'eye',
    text: 'A simulated fleet with a history. Every button works; nothing is real.',
    has: ({ simulated }) => simulated,
    command: 'npm start -- --sandbox=500',
  },
];

/** The first thing a new operator sees: three ways to a first machine, of which one can be used at once. */
export function FirstRun({ onCreate, refusal }: { onCreate: () => void; refusal?: string | undefined }) {
  const { data } = useCapabilities();
  const contexts = data?.contexts ?? [];
  const best = WAYS.find(({ has }) => contexts.some((context) => context.up && has(context))) ?? WAYS[0];
  return (
    <div className="hg-first-run">
      <h2>No virtual machines yet</h2>
      <p className="hg-note">
        Where should the first one run? You can add the others later. Nothing is installed or changed before you say so.
      </p>
      <ul>
        {WAYS.map((way) => (
          <li key={way.title} className="hg-first-way" data-best={way === best}>
            <Icon name={way.icon} />
            <h3>{way.title}</h3>
            <p>{way.text}</p>
            <ContextFacts contexts={contexts.filter(way.has)} />
            {way === best ? (
              <div className="hg-first-action">
                <Button onClick={onCreate} isDisabled={refusal !== undefined}>
                  Create VM
                </Button>
                {refusal && <p>{refusal}</p>}
              </div>
            ) : (
              <div className="hg-first-action hg-note">
                {contexts.some(way.has) ? 'Choose the context on the page that creates the VM.' : 'Start Headgate with'}
                {!contexts.some(way.has) && <Copyable text={way.command} what="the command" />}
              </div>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The contexts of one way, and whether they respond. */
const ContextFacts = ({ contexts }: { contexts: readonly ContextCapabilities[] }) => (
  <ul className="hg-first-facts">
    {contexts.map(({ context, label, up }) => (
      <li key={context}>
        <Icon name={up ? 'check' : 'triangle'} className={up ? 'hg-status--success' : 'hg-status--warning'} />
        {up ? `${context} (${label}) responds` : `${context} (${label}) does not respond`}
      </li>
    ))}
  </ul>
);
