import { inSentence } from '../texts/in-sentence.js';
import { t } from '@lingui/core/macro';
import type { ReactNode } from 'react';
import { PAGE_FOCUS } from '../location/use-page-focus.js';
import { EmptyState } from '../ui/empty-state.js';
import { ErrorAlert } from '../ui/error-alert.js';
import { Skeleton } from '../ui/loading.js';
import { usePageTitle } from '../ui/use-page-title.js';

interface ResourcePageProps {
  /** In the plural: "Networks". */
  title: string;
  /** The numbers next to the title. */
  summary?: string;
  /** Controls at the end of the line of the title. */
  tools?: ReactNode;
  /** The query of the page. */
  query: {
    readonly data?: readonly unknown[] | undefined;
    readonly error: Error | null;
    readonly refetch: () => unknown;
  };
  /** The text without any entry. */
  none: string;
  /** Shown when there are entries. */
  children: ReactNode;
}

/** A page with a list, and its states while it loads, fails or is empty. */
export function ResourcePage({ title, summary, tools, query, none, children }: ResourcePageProps) {
  usePageTitle(title);
  const { data, error, refetch } = query;
  const things = inSentence(title);
  return (
    <div className="hg-page">
      <div className="hg-resource-head">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          {title}
        </h1>
        {summary !== undefined && <span className="hg-note">{summary}</span>}
        {tools}
      </div>
      {error && <ErrorAlert title={t`Couldn't load the ${things}`} error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height="10rem" label={t`Loading ${things}`} />}
      {data?.length === 0 && (
        <EmptyState title={t`No ${things}`} level={2}>
          {none}
        </EmptyState>
      )}
      {data && data.length > 0 && children}
    </div>
  );
}
