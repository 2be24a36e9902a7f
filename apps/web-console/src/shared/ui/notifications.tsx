import { Alert, AlertActionCloseButton, AlertActionLink, AlertGroup } from '@patternfly/react-core';
import { createContext, use, useCallback, useMemo, useState, type ReactNode } from 'react';

export interface Notice {
  readonly variant: 'success' | 'danger' | 'warning' | 'info';
  readonly title: string;
  readonly body?: ReactNode | undefined;
  /** What can be done about it: «Undo». The notice goes with it. */
  readonly action?: { readonly label: string; readonly run: () => void };
  /** A text to take along, such as a report. */
  readonly copy?: string;
}

const NotifyContext = createContext<(notice: Notice) => void>(() => undefined);

/** Good news goes away by itself, later when it can be undone; bad news stays until somebody has read it. */
const GOOD_NEWS_MS = 5_000;
const UNDO_MS = 10_000;
const KEPT = 5;

const lifetime = ({ variant, action }: Notice): number | false =>
  variant === 'danger' || variant === 'warning' ? false : action ? UNDO_MS : GOOD_NEWS_MS;

export function NotificationProvider({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly (Notice & { id: number })[]>([]);
  const dismiss = useCallback((id: number) => setNotices((all) => all.filter((notice) => notice.id !== id)), []);
  const notify = useMemo(() => {
    let last = 0;
    return (notice: Notice) => setNotices((all) => [...all.slice(1 - KEPT), { ...notice, id: ++last }]);
  }, []);

  return (
    <NotifyContext value={notify}>
      {children}
      <AlertGroup isToast isLiveRegion aria-label="Notifications">
        {notices.map(({ id, ...notice }) => (
          <Alert
            key={id}
            variant={notice.variant}
            title={notice.title}
            timeout={lifetime(notice)}
            onTimeout={() => dismiss(id)}
            actionClose={<AlertActionCloseButton title={notice.title} onClose={() => dismiss(id)} />}
            actionLinks={<NoticeLinks notice={notice} onDone={() => dismiss(id)} />}
          >
            {notice.body}
          </Alert>
        ))}
      </AlertGroup>
    </NotifyContext>
  );
}

function NoticeLinks({ notice: { action, copy }, onDone }: { notice: Notice; onDone: () => void }) {
  return (
    <>
      {action && (
        <AlertActionLink
          onClick={() => {
            action.run();
            onDone();
          }}
        >
          {action.label}
        </AlertActionLink>
      )}
      {copy !== undefined && (
        <AlertActionLink onClick={() => void navigator.clipboard.writeText(copy).then(onDone, () => undefined)}>
          Copy report
        </AlertActionLink>
      )}
    </>
  );
}

export const useNotify = (): ((notice: Notice) => void) => use(NotifyContext);
