import { Skeleton } from '../../../shared/ui/loading.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Table } from '../../../shared/ui/table.js';
import { useNetworks } from '../use-networks.js';

/** The networks that NICs of VMs can be attached to. */
export function NetworkList() {
  const { data: networks, error, refetch } = useNetworks();
  if (error) return <ErrorAlert title="Couldn't load the networks" error={error} onRetry={() => void refetch()} />;
  if (!networks) return <Skeleton height="6rem" label="Loading networks" />;
  return (
    <section aria-label="Networks" className="hg-section">
      <h2>Networks</h2>
      {networks.length === 0 ? (
        <p className="hg-note">No reachable context has a network for more NICs</p>
      ) : (
        <Table label="Networks" columns={['Name', 'Namespace', 'Context']}>
          {networks.map(({ name, namespace, context }) => (
            <tr key={`${context}/${namespace}/${name}`}>
              <td>{name}</td>
              <td>{namespace}</td>
              <td>{context}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
