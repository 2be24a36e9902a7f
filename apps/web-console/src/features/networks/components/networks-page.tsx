import type { NetworkDetailsView } from '@headgate/api-contracts';
import { PeekFacts } from '../../../shared/instances/peek-facts.js';
import { paths } from '../../../shared/location/paths.js';
import { InstanceLinks } from '../../../shared/resources/instance-links.js';
import { ResourceList } from '../../../shared/resources/resource-list.js';
import { ResourcePage } from '../../../shared/resources/resource-page.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { numeric } from '../../../shared/ui/table.js';
import { useNetworks } from '../use-networks.js';

const COLUMNS = ['Name', 'Namespace', 'Status', 'Mode', 'Bridge', 'Addresses', numeric('Used by'), 'Context'];

const keyOf = ({ context, ref }: NetworkDetailsView): string => `${context}/${ref}`;
const nameOf = ({ name }: NetworkDetailsView): string => name;

/** The networks that the cards of VMs can be attached to, of all contexts. */
export function NetworksPage() {
  const query = useNetworks();
  return (
    <ResourcePage title="Networks" query={query} none="No reachable context has a network for more NICs">
      <ResourceList
        label="Networks"
        columns={COLUMNS}
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
        ? { tone: 'success', icon: 'dot', words: 'Active' }
        : { tone: 'neutral', icon: 'ring', words: 'Not active' }
    }
  />
);

const cells = ({ namespace, active, mode, bridge, addresses, users, hiddenUsers, context }: NetworkDetailsView) => [
  namespace,
  <NetworkState active={active} />,
  mode || '–',
  bridge || '–',
  addresses.join(', ') || '–',
  (users.length + hiddenUsers).toLocaleString('en'),
  context,
];

function NetworkPeek({ network }: { network: NetworkDetailsView }) {
  const { namespace, context, mode, bridge, active, addresses, dhcp, users, hiddenUsers } = network;
  const facts = {
    Context: context,
    Namespace: namespace,
    Mode: mode,
    Bridge: bridge,
    Addresses: addresses.join(', '),
    DHCP: dhcp.map(({ start, end }) => `${start} to ${end}`).join(', '),
  };
  return (
    <>
      <p className="hg-peek-state">
        <NetworkState active={active} />
      </p>
      <PeekFacts facts={facts} />
      <InstanceLinks title="Used by" users={users} hidden={hiddenUsers} none="No instance has a card in it." />
    </>
  );
}
