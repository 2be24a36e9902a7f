import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { leftList } from '../location/left-list.js';
import { Icon } from '../ui/icon.js';
import { StatusLabel } from '../ui/status-label.js';
import { usePageTitle } from '../ui/use-page-title.js';
import { statusOf, type Instance } from './instance.js';

interface InstanceHeadProps {
  instance: Instance;
  /** The place of all of its kind, and what they are called. */
  list: string;
  many: string;
  /** What else tells it from others. */
  note?: string;
  /** What can be done with it. */
  children: ReactNode;
}

/** Always in sight on the page of an instance: what it is, how it is, and its power. The tab is called so too. */
export function InstanceHead({ instance, list, many, note, children }: InstanceHeadProps) {
  const { name, namespace, context, reason, stale } = instance;
  const status = statusOf(instance);
  usePageTitle(`${name} (${status})`);
  return (
    <header className="hg-instance-head">
      <div className="hg-instance-title">
        <Link href={leftList(list)} className="hg-icon-button" aria-label={`Back to all ${many}`} title={`All ${many}`}>
          <Icon name="back" />
        </Link>
        <h1 className="hg-page-title">{name}</h1>
        <StatusLabel status={status} reason={reason} stale={stale} />
        <span className="hg-note">
          {namespace} in {context}
          {note !== undefined && `, ${note}`}
        </span>
      </div>
      {children}
    </header>
  );
}
