import { plural, t } from '@lingui/core/macro';
import type { FileEntryView, FileSessionView } from '@headgate/api-contracts';
import { useState } from 'react';
import { readableBytes } from '../quantity/quantity.js';
import { Alert } from '../ui/alert.js';
import { Button } from '../ui/button.js';
import { Data } from '../ui/data.js';
import { ErrorAlert } from '../ui/error-alert.js';
import { Field } from '../ui/field.js';
import { SelectInput } from '../ui/inputs.js';
import { Spinner } from '../ui/loading.js';
import { ServiceText } from '../ui/service-text.js';
import { ReloadButton } from '../ui/reload-button.js';
import { numeric, Table } from '../ui/table.js';
import { Timestamp } from '../ui/timestamp.js';
import {
  childOf,
  foldersOfVolume,
  PAGE_ENTRIES,
  useEntries,
  type FilesSource,
  type FolderSource,
} from './file-requests.js';

interface FileBrowserProps {
  source: FilesSource;
  session: FileSessionView;
}

/** The volumes of a session, and the folders of one of them. */
export function FileBrowser({ source, session: { session, volumes } }: FileBrowserProps) {
  const first = volumes.find(({ problem }) => problem === undefined) ?? volumes[0];
  const [number, setNumber] = useState(first?.number ?? 0);
  const volume = volumes.find((one) => one.number === number);
  if (!volume) return <Alert variant="warning" title={t`The disks have no volumes.`} />;
  return (
    <>
      <Field label={t`Volume`} id="files-volume">
        <SelectInput id="files-volume" value={String(number)} onChange={(text) => setNumber(Number(text))}>
          {volumes.map((one) => (
            <option key={one.number} value={one.number} translate="no">
              {[one.disk, one.name, one.fileSystem, one.label, readableBytes(one.sizeBytes)]
                .filter(Boolean)
                .join(' · ')}
            </option>
          ))}
        </SelectInput>
      </Field>
      {volume.problem === undefined ? (
        <FolderBrowser key={number} folders={foldersOfVolume(source, session, number)} />
      ) : (
        <Alert variant="warning" title={t`The files of this volume can't be read`}>
          <ServiceText>{volume.problem}</ServiceText>
        </Alert>
      )}
    </>
  );
}

/** One folder at a time, with the way back to those above. */
export function FolderBrowser({ folders }: { folders: FolderSource }) {
  const [path, setPath] = useState('/');
  const [skip, setSkip] = useState(0);
  const { data, error, isPending, isFetching, refetch } = useEntries(folders, path, skip);
  const go = (to: string): void => {
    setPath(to);
    setSkip(0);
  };
  const names = path.split('/').filter(Boolean);
  return (
    <>
      <nav aria-label={t`Folder`} className="hg-toolbar">
        <Button variant="link" onClick={() => go('/')}>{t`Top folder`}</Button>
        {names.map((name, index) => (
          <Button key={index} variant="link" onClick={() => go(`/${names.slice(0, index + 1).join('/')}`)}>
            <Data>{`/ ${name}`}</Data>
          </Button>
        ))}
        <span className="hg-spring" />
        {folders.archiveAt && (
          <a download href={folders.archiveAt(path)}>
            {t`Download this folder (tar)`}
          </a>
        )}
        {folders.isLive && <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />}
      </nav>
      {isPending && <Spinner label={t`Loading the folder`} />}
      {error && <ErrorAlert title={t`Couldn't read the folder`} error={error} onRetry={() => void refetch()} />}
      {data && (
        <>
          <p className="hg-note" role="status">
            {plural(data.total, { one: '# entry', other: '# entries' })}
            {data.isCut && ` · ${t`The folder has more entries, which are not shown.`}`}
          </p>
          <Entries
            entries={data.entries}
            hrefOf={(name) => folders.contentAt(childOf(path, name))}
            onEnter={(name) => go(childOf(path, name))}
          />
          <Pages total={data.total} skip={skip} onSkip={setSkip} />
        </>
      )}
    </>
  );
}

interface EntriesProps {
  entries: readonly FileEntryView[];
  hrefOf: (name: string) => string;
  onEnter: (name: string) => void;
}

function Entries({ entries, hrefOf, onEnter }: EntriesProps) {
  if (entries.length === 0) return <p className="hg-note">{t`This folder is empty.`}</p>;
  return (
    <Table label={t`Files`} columns={[t`Name`, numeric(t`Size`), t`Changed`, t`Actions`]}>
      {entries.map(({ name, kind, sizeBytes, modifiedAt, target, targetKind }) => (
        <tr key={name}>
          <td>
            {(targetKind ?? kind) === 'folder' ? (
              <Button variant="link" onClick={() => onEnter(name)}>
                <Data>{kind === 'link' ? `${name} → ${target ?? ''}` : `${name}/`}</Data>
              </Button>
            ) : (
              <Data>{kind === 'link' ? `${name} → ${target ?? ''}` : name}</Data>
            )}
          </td>
          <td className="hg-numeric">{kind === 'file' ? readableBytes(sizeBytes) : ''}</td>
          <td>{modifiedAt !== undefined && <Timestamp at={modifiedAt} />}</td>
          <td>
            {(targetKind ?? kind) === 'file' && (
              <a download href={hrefOf(name)} aria-label={t`Download ${name}`}>
                {t`Download`}
              </a>
            )}
            {(targetKind ?? kind) === 'other' && <span className="hg-note">{t`Device, socket or pipe`}</span>}
            {kind === 'unreadable' && <span className="hg-note">{t`Can't be read`}</span>}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Pages({ total, skip, onSkip }: { total: number; skip: number; onSkip: (skip: number) => void }) {
  if (total <= PAGE_ENTRIES) return undefined;
  return (
    <div className="hg-toolbar">
      <Button variant="secondary" isDisabled={skip === 0} onClick={() => onSkip(Math.max(0, skip - PAGE_ENTRIES))}>
        {t`Previous entries`}
      </Button>
      <Button variant="secondary" isDisabled={skip + PAGE_ENTRIES >= total} onClick={() => onSkip(skip + PAGE_ENTRIES)}>
        {t`Next entries`}
      </Button>
    </div>
  );
}
