import { Alert, AlertActionCloseButton, AlertGroup } from '@patternfly/react-core';
import { createContext, use, useCallback, useMemo, useState, type ReactNode } from 'react';

export interface Notice {
  readonly variant: 'success' | 'danger' | 'warning' | 'info';
  readonly title: string;
  readonly body?: ReactNode | undefined;
}

const NotifyContext = createContext<(notice: Notice) => void>(() => undefined);

/** Good news goes away by itself; bad news stays until somebody has read it. */
const GOOD_NEWS_MS = 5_000;

export function NotificationProvider({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly (Notice & { id: number })[]>([]);
  const dismiss = useCallback((id: number) => setNotices((all) => all.filter((notice) => notice.id !== id)), []);
  const notify = useMemo(() => {
    let last = 0;
    return (notice: Notice) => setNotices((all) => [...all.slice(-4), { ...notice, id: ++last }]);
  }, []);

  return (
    <NotifyContext value={notify}>
      {children}
      <AlertGroup isToast isLiveRegion aria-label="Notifications">
        {notices.map(({ id, variant, title, body }) => (
          <Alert
            key={id}
            variant={variant}
            title={title}
            timeout={variant === 'success' || variant === 'info' ? GOOD_NEWS_MS : false}
            onTimeout={() => dismiss(id)}
            actionClose={<AlertActionCloseButton title={title} onClose={() => dismiss(id)} />}
          >
            {body}
          </Alert>
        ))}
      </AlertGroup>
    </NotifyContext>
  );
}

export const useNotify = (): ((notice: Notice) => void) => use(NotifyContext);
