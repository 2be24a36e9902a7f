import type { GuestFilesystemView, GuestInfoView, VmView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { messageOf } from '../../../shared/api/api-error.js';
import { paths } from '../../../shared/location/paths.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { Copyable } from '../../../shared/ui/copy.js';
import { useGuestInfo } from '../api/use-guest-info.js';
import { FactCard } from './fact-card.js';

/** How many file systems are shown; the tab of the guest has all. */
const SHOWN_FILESYSTEMS = 4;

/** The guest: its address, and what its agent reports. */
export function GuestCard({ vm }: { vm: VmView }) {
  const { data: guest, error } = useGuestInfo(vm, vm.running && vm.agentConnected);
  const known = guest?.filesystems.filter(hasSize) ?? [];
  return (
    <FactCard
      title="Guest"
      aside={<Link href={paths.vm(vm, 'guest')}>Details</Link>}
      facts={{
        'IP address': vm.ip ? (
          <Copyable text={vm.ip} what="IP address" />
        ) : vm.running ? (
          'Not known yet'
        ) : (
          'None (not running)'
        ),
        'Guest agent': vm.agentConnected ? 'Connected' : 'Not connected',
        Ready: vm.running && !vm.ready ? 'No' : undefined,
        ...(guest && factsOf(guest)),
      }}
    >
      {error && <p className="hg-note">{messageOf(error)}</p>}
      {known.length > 0 && <h3>File systems</h3>}
      {known.slice(0, SHOWN_FILESYSTEMS).map((filesystem) => (
        <UsedSpace key={filesystem.mountPoint} {...filesystem} />
      ))}
    </FactCard>
  );
}

const factsOf = ({ os, users }: GuestInfoView) => ({
  System: [os.prettyName || os.name, os.kernel && `kernel ${os.kernel}`].filter(Boolean).join(', '),
  'Host name': os.hostname,
  'Signed in': [...new Set(users.map(({ name }) => name))].join(', '),
});

interface SizedFilesystem extends GuestFilesystemView {
  usedBytes: number;
  totalBytes: number;
}

const hasSize = (filesystem: GuestFilesystemView): filesystem is SizedFilesystem =>
  filesystem.usedBytes !== null && filesystem.totalBytes !== null && filesystem.totalBytes > 0;

function UsedSpace({ mountPoint, usedBytes, totalBytes }: SizedFilesystem) {
  const share = Math.min(1, usedBytes / totalBytes);
  const tone = share >= 0.85 ? 'bad' : share >= 0.7 ? 'high' : 'usual';
  return (
    <p className="hg-space">
      <span className="hg-space-name">{mountPoint}</span>
      <span className={`hg-meter-bar hg-space-bar hg-space-bar--${tone}`} aria-hidden="true">
        <span style={{ inlineSize: `${share * 100}%` }} />
      </span>
      <span>
        {readableBytes(usedBytes)} of {readableBytes(totalBytes)}
      </span>
    </p>
  );
}
