import type { ReplayReport } from '../api/types.js';
import { clockTime } from '../model/durations.js';
import { Cell, Name, State } from '../ui/parts.js';

const number = new Intl.NumberFormat('en-US');

/** Who would have been refused. */
export function ProposalResult({ report }: { report: ReplayReport }) {
  const { requests, refused, refusedNow, refusedThen, grantedNow, firstMs, lastMs, isPart } = report;
  const rules = report.rules.filter((rule) => rule.keys > 0);
  const time = (ms: number) => clockTime(new Date(ms).toISOString());
  return (
    <section className="desk-card desk-stack" aria-label="Result">
      <h2>
        {number.format(refused)} of {number.format(requests)} requests would be refused
      </h2>
      <p className="desk-second">
        {requests > 0 && `From ${time(firstMs)} to ${time(lastMs)}. `}
        {number.format(refusedNow)} of them were granted; {number.format(grantedNow)} of the{' '}
        {number.format(refusedThen)} that were refused would be granted.
        {isPart && ' Older requests of the log were left out.'}
      </p>
      {rules.length > 0 && (
        <table className="desk-table">
          <thead>
            <tr>
              <th scope="col">Rule</th>
              <th scope="col">State</th>
              <th scope="col" className="desk-number">
                Requests
              </th>
              <th scope="col">Keys with the most refusals</th>
            </tr>
          </thead>
          <tbody>
            {rules.map(({ name, refused: count, wouldBeRefused, keys, top }) => (
              <tr key={name}>
                <td>
                  <b>{name}</b>
                </td>
                <td>
                  <State tone={count > 0 ? 'bad' : 'warn'}>{count > 0 ? 'Refuses' : 'Shadow'}</State>
                </td>
                <Cell label="Requests" className="desk-number">
                  {number.format(count + wouldBeRefused)}
                </Cell>
                <Cell label="Keys">
                  <ul>
                    {top.map(({ key, refusals }) => (
                      <li key={key}>
                        <Name>{key}</Name> <span className="desk-quiet">{number.format(refusals)}</span>
                      </li>
                    ))}
                  </ul>
                  {keys > top.length && <span className="desk-quiet">and {number.format(keys - top.length)} more</span>}
                </Cell>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p className="desk-quiet">
        To apply the rule, add it to the configuration of the gateway and send SIGHUP to its process.
      </p>
    </section>
  );
}
