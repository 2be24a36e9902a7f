import { t } from '@lingui/core/macro';
import type { ReactNode } from 'react';
import type { GuestFilesystemView, GuestInfoView, VmView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { messageOf } from '../../../shared/api/api-error.js';
import { paths } from '../../../shared/location/paths.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { Copyable } from '../../../shared/ui/copy.js';
import { useGuestInfo } from '../api/use-guest-info.js';
import { FactCard } from './fact-card.js';
import { Data } from '../../../shared/ui/data.js';

/** How many file systems are shown; the tab of the guest has all. */
const SHOWN_FILESYSTEMS = 4;

/** The guest: its address, and what its agent reports. */
export function GuestCard({ vm }: { vm: VmView }) {
  const { data: guest, error } = useGuestInfo(vm, vm.running && vm.agentConnected);
  const known = guest?.filesystems.filter(hasSize) ?? [];
  return (
    <FactCard
      title={t`Guest`}
      aside={<Link href={paths.vm(vm, 'guest')}>{t`Details`}</Link>}
      facts={{
        [t`IP address`]: vm.ip ? (
          <Copyable text={vm.ip} what={t`IP address`} />
        ) : vm.running ? (
          t`Not known yet`
        ) : (
          t`None (not running)`
        ),
        [t`Guest agent`]: vm.agentConnected ? t`Connected` : t`Not connected`,
        [t`Ready`]: vm.running && !vm.ready ? t`No` : undefined,
        ...(guest && factsOf(guest)),
      }}
    >
      {error && <p className="hg-note">{messageOf(error)}</p>}
      {known.length > 0 && <h3>{t`File systems`}</h3>}
      {known.slice(0, SHOWN_FILESYSTEMS).map((filesystem) => (
        <UsedSpace key={filesystem.mountPoint} {...filesystem} />
      ))}
    </FactCard>
  );
}

const factsOf = ({ os, users }: GuestInfoView) => ({
  [t`System`]: systemText(os),
  [t`Host name`]: os.hostname && <Data>{os.hostname}</Data>,
  [t`Signed in`]: users.length > 0 && <Data>{[...new Set(users.map(({ name }) => name))].join(', ')}</Data>,
});

function systemText({ prettyName, name, kernel }: GuestInfoView['os']): ReactNode {
  const system = prettyName || name;
  if (!kernel) return system && <Data>{system}</Data>;
  return system ? t`${system}, kernel ${kernel}` : t`kernel ${kernel}`;
}

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
      <span className="hg-space-name" translate="no">
        {mountPoint}
      </span>
      <span className={`hg-meter-bar hg-space-bar hg-space-bar--${tone}`} aria-hidden="true">
        <span style={{ inlineSize: `${share * 100}%` }} />
      </span>
      <span>{t`${readableBytes(usedBytes)} of ${readableBytes(totalBytes)}`}</span>
    </p>
  );
}
