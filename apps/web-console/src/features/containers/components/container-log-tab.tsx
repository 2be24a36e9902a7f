import { plural, t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import type { ContainerView } from '@headgate/api-contracts';
import { useMemo, useState } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { contextNamed, unavailableForContainers, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { readableNumber } from '../../../shared/texts/formats.js';
import { Alert } from '../../../shared/ui/alert.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { SearchInput, Switch } from '../../../shared/ui/inputs.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import { fileTimestamp, saveFile } from '../../../shared/ui/save-file.js';
import type { LogState } from '../logs/log-feed.js';
import type { TimedLine } from '../logs/log-position.js';
import { downloadLog, useContainerLog } from '../logs/use-container-log.js';
import { LogText } from './log-text.js';

/** The output of a container: searched, followed and downloaded. */
export function ContainerLogTab({ ct }: { ct: ContainerView }) {
  const { data: capabilities } = useCapabilities();
  const unavailable = unavailableForContainers(contextNamed(capabilities, ct.context), 'containerLogs');
  if (unavailable !== undefined) return <p className="hg-note">{unavailable}</p>;
  return <ContainerLog ct={ct} />;
}

function ContainerLog({ ct }: { ct: ContainerView }) {
  const [search, setSearch] = useState('');
  const [follows, setFollows] = useState(true);
  const [isPrevious, setIsPrevious] = useState(false);
  const [hasTimes, setHasTimes] = useState(false);
  const [reloads, setReloads] = useState(0);
  // A container that is started again has a new log.
  const version = `${reloads} ${ct.phase === 'Running'}`;
  const state = useContainerLog(ct, { follows: follows && !isPrevious, isPrevious }, version);
  const text = useMemo(() => textOf(state.lines, search, hasTimes), [state.lines, search, hasTimes]);
  const reload = (): void => setReloads(reloads + 1);
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-toolbar--fields hg-gap-below">
        <SearchInput
          aria-label={t`Search the log`}
          placeholder={t`Show lines that contain…`}
          value={search}
          onChange={setSearch}
        />
        <span className="hg-log-switches">
          {!isPrevious && <Switch id="log-follow" label={t`Follow`} isChecked={follows} onChange={setFollows} />}
          <Switch id="log-times" label={t`Times`} isChecked={hasTimes} onChange={setHasTimes} />
          <Switch id="log-previous" label={t`Previous run`} isChecked={isPrevious} onChange={setIsPrevious} />
        </span>
        <span className="hg-spring" />
        <DownloadButton ct={ct} isPrevious={isPrevious} hasTimes={hasTimes} />
        <ReloadButton isLoading={state.phase === 'loading'} onReload={reload} />
      </div>
      <Problem state={state} isStopped={ct.phase === 'Stopped'} onRetry={reload} />
      {state.phase === 'loading' && <Skeleton height="20rem" label={t`Loading the log`} />}
      {(state.lines.length > 0 || state.phase === 'open' || state.phase === 'ended') && (
        <>
          <p className="hg-note" role="status">
            {summaryOf(state, search, text.count)}
          </p>
          <LogText text={text.text} label={t`Log of ${ct.name}`} />
        </>
      )}
    </div>
  );
}

function DownloadButton({ ct, isPrevious, hasTimes }: { ct: ContainerView; isPrevious: boolean; hasTimes: boolean }) {
  const notify = useNotify();
  const { mutate, isPending } = useMutation({
    mutationFn: () => downloadLog(ct, isPrevious, hasTimes),
    onSuccess: (content) => saveFile(`${ct.name}-${fileTimestamp(new Date())}.log`, content),
    onError: (error) =>
      notify({ variant: 'danger', title: t`Couldn't download the log of ${ct.name}`, body: messageOf(error) }),
  });
  return (
    <ReasonedButton
      variant="secondary"
      isSmall
      icon={<Icon name="download" />}
      reason={ct.phase === 'Stopped' ? t`The container is stopped, so it has no log.` : undefined}
      isLoading={isPending}
      onClick={() => mutate()}
    >
      {t`Download`}
    </ReasonedButton>
  );
}

/** Why lines are missing. The lines that have arrived stay below it. */
function Problem({ state, isStopped, onRetry }: { state: LogState; isStopped: boolean; onRetry: () => void }) {
  const { phase, error, lines } = state;
  if (phase === 'failed' && isStopped && lines.length === 0)
    return (
      <EmptyState title={t`No log`} level={2}>
        {messageOf(error)}
      </EmptyState>
    );
  if (phase === 'failed') return <ErrorAlert title={t`Couldn't read the log`} error={error} onRetry={onRetry} />;
  if (phase !== 'retrying') return null;
  return (
    <Alert variant="warning" title={error ? t`The log broke off` : t`The log ended`} className="hg-gap-below">
      {error && messageOf(error)} {t`Retrying automatically.`}
    </Alert>
  );
}

function textOf(lines: readonly TimedLine[], search: string, hasTimes: boolean): { text: string; count: number } {
  const wanted = search.trim().toLowerCase();
  const found = wanted === '' ? lines : lines.filter(({ text }) => text.toLowerCase().includes(wanted));
  const shown = found.map(({ time, text }) => (hasTimes && time !== '' ? `${shortTime(time)} ${text}` : text));
  return { text: shown.join('\n'), count: found.length };
}

/** In UTC, to the millisecond. */
const shortTime = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 23)}`;

function summaryOf({ lines, dropped, phase }: LogState, search: string, found: number): string {
  if (lines.length === 0) return phase === 'open' ? t`No output yet` : t`No output`;
  const count = lines.length;
  if (search.trim() !== '')
    return t`${readableNumber(found)} of ${plural(count, { one: '# line', other: '# lines' })} contain the text`;
  if (dropped > 0) return t`The last ${plural(count, { one: '# line', other: '# lines' })}`;
  return plural(count, { one: '# line', other: '# lines' });
}
