import { plural, t } from '@lingui/core/macro';
import { Link, useLocation } from 'wouter';
import { useContainers } from '../../../shared/fleet/fleet-provider.js';
import { InstanceStatus } from '../../../shared/instances/instance-status.js';
import { paths } from '../../../shared/location/paths.js';
import type { ContextCapabilities } from '../../../shared/queries/use-capabilities.js';
import { Button } from '../../../shared/ui/button.js';
import { Data } from '../../../shared/ui/data.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ContextFacts } from './context-facts.js';

const MAX_SHOWN = 5;

interface FirstContainersProps {
  /** Those that run containers only. */
  contexts: readonly ContextCapabilities[];
  /** Why no instance can be created now. */
  refusal: string | undefined;
}

/** A fleet without VMs may have containers. Shown only where there are some, or a context that runs nothing else. */
export function FirstContainers({ contexts, refusal }: FirstContainersProps) {
  const containers = useContainers(({ entries }) => entries);
  const [, navigate] = useLocation();
  if (contexts.length === 0 && containers.length === 0) return null;
  const more = containers.length - MAX_SHOWN;
  return (
    <li className="hg-first-way">
      <Icon name="container" />
      <h3>{t`Containers`}</h3>
      <p>{t`They start within a second, and keep their files when they are stopped.`}</p>
      <ContextFacts contexts={contexts} />
      <ul className="hg-first-containers">
        {containers.slice(0, MAX_SHOWN).map((ct) => (
          <li key={ct.ref}>
            <Link href={paths.container(ct)}>
              <Data>{ct.name}</Data>
            </Link>
            <InstanceStatus instance={ct} />
          </li>
        ))}
        {more > 0 && (
          <li>
            <Link href={paths.containers}>{plural(more, { one: '# more', other: '# more' })}</Link>
          </li>
        )}
      </ul>
      <div className="hg-first-action">
        <Button variant="secondary" onClick={() => navigate(paths.createContainer)} isDisabled={refusal !== undefined}>
          {t`Create container`}
        </Button>
      </div>
    </li>
  );
}
