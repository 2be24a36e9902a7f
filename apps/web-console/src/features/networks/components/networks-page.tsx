import { t } from '@lingui/core/macro';
import type { NetworkDetailsView } from '@headgate/api-contracts';
import { PeekFacts } from '../../../shared/instances/peek-facts.js';
import { paths } from '../../../shared/location/paths.js';
import { InstanceLinks } from '../../../shared/resources/instance-links.js';
import { ResourceList } from '../../../shared/resources/resource-list.js';
import { ResourcePage } from '../../../shared/resources/resource-page.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { numeric } from '../../../shared/ui/table.js';
import { useNetworks } from '../use-networks.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { readableNumber } from '../../../shared/texts/formats.js';
import { Data } from '../../../shared/ui/data.js';

const columns = perLanguage(() => [
  t`Name`,
  t`Namespace`,
  t`Status`,
  t`Mode`,
  t`Bridge`,
  t`Addresses`,
  numeric(t`Used by`),
  t`Context`,
]);

const keyOf = ({ context, ref }: NetworkDetailsView): string => `${context}/${ref}`;
const nameOf = ({ name }: NetworkDetailsView): string => name;

/** The networks that the cards of VMs can be attached to, of all contexts. */
export function NetworksPage() {
  const query = useNetworks();
  return (
    <ResourcePage title={t`Networks`} query={query} none={t`No reachable context has a network for more NICs`}>
      <ResourceList
        label={t`Networks`}
        columns={columns()}
        items={query.data ?? []}
        keyOf={keyOf}
        nameOf={nameOf}
        cells={cells}
        path={paths.networks}
        details={(network) => <NetworkPeek network={network} />}
      />
    </ResourcePage>
  );
}

const NetworkState = ({ active }: Pick<NetworkDetailsView, 'active'>) => (
  <StatusLabel
    wording={
      active
        ? { tone: 'success', icon: 'dot', words: t`Active` }
        : { tone: 'neutral', icon: 'ring', words: t`Not active` }
    }
  />
);

const cells = ({ namespace, active, mode, bridge, addresses, users, hiddenUsers, context }: NetworkDetailsView) => [
  <Data>{namespace}</Data>,
  <NetworkState active={active} />,
  <Data>{mode || '–'}</Data>,
  <Data>{bridge || '–'}</Data>,
  <Data>{addresses.join(', ') || '–'}</Data>,
  readableNumber(users.length + hiddenUsers),
  <Data>{context}</Data>,
];

function NetworkPeek({ network }: { network: NetworkDetailsView }) {
  const { namespace, context, mode, bridge, active, addresses, dhcp, users, hiddenUsers } = network;
  const facts = {
    [t`Context`]: <Data>{context}</Data>,
    [t`Namespace`]: <Data>{namespace}</Data>,
    [t`Mode`]: mode && <Data>{mode}</Data>,
    [t`Bridge`]: bridge && <Data>{bridge}</Data>,
    [t`Addresses`]: addresses.length > 0 && <Data>{addresses.join(', ')}</Data>,
    DHCP: dhcp.map(({ start, end }) => t`${start} to ${end}`).join(', '),
  };
  return (
    <>
      <p className="hg-peek-state">
        <NetworkState active={active} />
      </p>
      <PeekFacts facts={facts} />
      <InstanceLinks title={t`Used by`} users={users} hidden={hiddenUsers} none={t`No instance is connected to it.`} />
    </>
  );
}
