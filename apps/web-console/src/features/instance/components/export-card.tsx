import { t } from '@lingui/core/macro';
import type { VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { instancePath } from '../../../shared/api/instance-path.js';
import { withQuery } from '../../../shared/api/request.js';
import { filesOfVm } from '../../../shared/files/file-requests.js';
import { FilesPanel } from '../../../shared/files/files-panel.js';
import { unavailableReason, type ContextCapabilities } from '../../../shared/queries/use-capabilities.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { Button } from '../../../shared/ui/button.js';

interface ExportCardProps {
  vm: VmView;
  /** Why this caller may not export; undefined for administrators. */
  refusal: string | undefined;
  context: ContextCapabilities | undefined;
}

const formats = perLanguage(() => [
  { label: t`Raw image, compressed (.img.gz)`, format: undefined },
  { label: t`qcow2 image, compressed (.qcow2)`, format: 'qcow2' },
]);

/** Downloads of the boot disk, as plain links: the browser streams them to a file; and the files on all disks. */
export function ExportCard({ vm, refusal, context }: ExportCardProps) {
  const reason =
    unavailableReason(context, 'diskExport') ??
    refusal ??
    (vm.status === 'Stopped' ? undefined : runningReason(context));
  const [isBrowsing, setIsBrowsing] = useState(false);
  const { name } = vm;
  const hasFiles = unavailableReason(context, 'diskFiles') === undefined;
  return (
    <section className="hg-card" aria-label={t`Export`}>
      <h2>{t`Export`}</h2>
      {reason === undefined ? (
        <ul className="hg-links">
          {formats().map(({ label, format }) => (
            <li key={label}>
              <a href={withQuery(`${instancePath('vms', vm)}/export`, { context: vm.context, format })} download>
                {label}
              </a>
            </li>
          ))}
          {hasFiles && (
            <li>
              <Button variant="link" onClick={() => setIsBrowsing(true)}>
                {t`Browse the files…`}
              </Button>
            </li>
          )}
        </ul>
      ) : (
        <p className="hg-note">{reason}</p>
      )}
      {isBrowsing && (
        <FilesPanel
          title={t`Files on the disks of ${name}`}
          source={filesOfVm(vm)}
          onClose={() => setIsBrowsing(false)}
        />
      )}
    </section>
  );
}

const runningReason = (context: ContextCapabilities | undefined): string =>
  unavailableReason(context, 'backups') === undefined
    ? t`Stop the VM to export its disk, or export it with a checkpoint in the tab Snapshots.`
    : t`Stop the VM to export its disk.`;
