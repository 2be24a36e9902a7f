import { t, plural } from '@lingui/core/macro';
import { ServiceText } from '../../../shared/ui/service-text.js';
import type { AffectedInstanceView, NodeDetailsView, NodeFailureView } from '@headgate/api-contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { getJson } from '../../../shared/api/request.js';
import { pathOfRef } from '../../../shared/location/paths.js';
import { Button } from '../../../shared/ui/button.js';
import { Disclosure } from '../../../shared/ui/disclosure.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { Spinner } from '../../../shared/ui/loading.js';
import { failureSummary } from '../failure-summary.js';
import { UncheckedList } from './unchecked-list.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { readableNumber } from '../../../shared/texts/formats.js';

const parts = perLanguage(
  () =>
    [
      { outcome: 'stays-down', title: t`Stay down`, tone: 'danger', icon: 'diamond' },
      { outcome: 'no-room', title: t`No room elsewhere`, tone: 'warning', icon: 'triangle' },
      { outcome: 'restarts', title: t`Restart elsewhere`, tone: 'success', icon: 'dot' },
    ] as const,
);

/** What would happen if a node failed. It is computed when the user asks for it, because it reads the whole cluster. */
export function NodeFailure({ node: { context, name } }: { node: NodeDetailsView }) {
  const report = useQuery({
    queryKey: ['node-failure', context, name],
    queryFn: ({ signal }) =>
      getJson(`/api/ext/nodes/${encodeURIComponent(name)}/failure`, { query: { context }, signal }),
    enabled: false,
  });
  return (
    <section className="hg-peek-activity hg-failure" aria-label={t`If this node fails`}>
      <h3>{t`If this node fails`}</h3>
      {report.error && (
        <ErrorAlert
          title={t`Couldn't compute the failure`}
          error={report.error}
          onRetry={() => void report.refetch()}
        />
      )}
      {report.data ? (
        <FailureReport report={report.data} />
      ) : (
        !report.error && (
          <Button isSmall isLoading={report.isFetching} onClick={() => void report.refetch()}>
            {t`Show what would happen`}
          </Button>
        )
      )}
      {report.isFetching && !report.data && <Spinner label={t`Reading the cluster`} />}
    </section>
  );
}

function FailureReport({ report }: { report: NodeFailureView }) {
  const { instances, hidden, unchecked } = report;
  const some = [...new Set(instances.flatMap((one) => one.unchecked))];
  return (
    <>
      <p role="status">{failureSummary(report)}</p>
      {parts().map(({ outcome, title, tone, icon }) => {
        const members = instances.filter((one) => one.outcome === outcome);
        if (members.length === 0) return null;
        const heading = `${title} (${readableNumber(members.length)})`;
        const list = (
          <ul>
            {members.map((one) => (
              <Affected key={one.ref} affected={one} />
            ))}
          </ul>
        );
        return outcome === 'restarts' ? (
          <Disclosure key={outcome} label={heading}>
            {list}
          </Disclosure>
        ) : (
          <div key={outcome}>
            <h4 className={`hg-status hg-status--${tone}`}>
              <Icon name={icon} />
              <span>{heading}</span>
            </h4>
            {list}
          </div>
        );
      })}
      {hidden > 0 && <p className="hg-note">{t`${readableNumber(hidden)} more that you may not see`}</p>}
      {(unchecked.length > 0 || some.length > 0) && (
        <>
          <h4>{t`Not checked`}</h4>
          <UncheckedList className="hg-failure-unchecked" all={unchecked} some={some} />
        </>
      )}
    </>
  );
}

const Affected = ({ affected: { ref, name, nodes, reason } }: { affected: AffectedInstanceView }) => (
  <li>
    <Link href={pathOfRef(ref)} className="hg-quiet-link" translate="no">
      {name}
    </Link>
    <span className="hg-note">{reason === undefined ? fitText(nodes) : <ServiceText>{reason}</ServiceText>}</span>
  </li>
);

const fitText = (nodes: readonly string[]): string =>
  nodes.length === 1
    ? t`fits on ${nodes[0]!}`
    : t`fits on ${plural(nodes.length, { one: '# node', other: '# nodes' })}`;
