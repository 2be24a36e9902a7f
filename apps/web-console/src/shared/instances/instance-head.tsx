import { inSentence } from '../texts/in-sentence.js';
import { t } from '@lingui/core/macro';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { lastListPath } from '../location/last-list-path.js';
import { PAGE_FOCUS } from '../location/use-page-focus.js';
import { Icon } from '../ui/icon.js';
import { usePageTitle } from '../ui/use-page-title.js';
import { BusyLink } from './busy-link.js';
import type { Instance } from './instance.js';
import { instanceState } from './instance-state.js';
import { InstanceStatus } from './instance-status.js';
import { useProgresses } from '../tasks/use-progress.js';

interface InstanceHeadProps {
  instance: Instance;
  /** The path and the title of the list that it belongs to. */
  listPath: string;
  listTitle: string;
  /** More text that identifies it. */
  note?: string;
  /** Its actions. */
  children: ReactNode;
}

/** The head of an instance's page, which stays visible: name, status, and actions. Also sets the tab's title. */
export function InstanceHead({ instance, listPath, listTitle, note, children }: InstanceHeadProps) {
  const { name, namespace, context, ref } = instance;
  const progress = useProgresses()[ref];
  usePageTitle(`${name} (${instanceState(instance, progress).words})`);
  return (
    <header className="hg-instance-head">
      <div className="hg-instance-title">
        <Link
          href={lastListPath(listPath)}
          className="hg-icon-button"
          aria-label={t`Back to ${inSentence(listTitle)}`}
          title={listTitle}
        >
          <Icon name="back" />
        </Link>
        <h1 className="hg-page-title" translate="no" {...PAGE_FOCUS}>
          {name}
        </h1>
        <InstanceStatus instance={instance} progress={progress} />
        <BusyLink instance={instance} />
        <span className="hg-note">
          {note === undefined ? t`${namespace} in ${context}` : t`${namespace} in ${context}, ${note}`}
        </span>
      </div>
      {children}
    </header>
  );
}
