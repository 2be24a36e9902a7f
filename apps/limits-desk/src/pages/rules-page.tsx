import { useAnswer } from '../api/context.js';
import type { Decisions, Rate, RuleList, Series } from '../api/types.js';
import { windowText } from '../model/durations.js';
import { DecisionGraph } from '../ui/decision-graph.js';
import { Alert, Cell, PageHead, State } from '../ui/parts.js';

const NONE: Record<Series, readonly number[]> = {
  granted: Array<number>(60).fill(0),
  refused: Array<number>(60).fill(0),
  shadow_refused: Array<number>(60).fill(0),
};

const number = new Intl.NumberFormat('en-US');

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Each rule with its decisions over the last hour; shadow rules next to those that refuse. */
export function RulesPage() {
  const { answer: rules, error } = useAnswer<RuleList>('/rules', 10_000);
  const { answer: decisions } = useAnswer<Decisions>('/decisions', 10_000);
  const own = rules?.rates.filter(({ by }) => by !== undefined) ?? [];
  const caps = rules?.caps ?? [];
  const valuesOf = (name: string) => decisions?.rules.find((one) => one.name === name) ?? NONE;
  return (
    <main className="desk-main" id="main">
      <PageHead
        title="Rules"
        note={
          <>
            Decisions per minute of the last hour: <i className="desk-key" data-series="granted" />
            granted, <i className="desk-key" data-series="refused" />
            refused, <i className="desk-key" data-series="shadow_refused" />
            would be refused
          </>
        }
      />
      {error !== undefined && <Alert>{error}</Alert>}
      {rules && (
        <div className="desk-card">
          <table className="desk-table desk-table--graphs">
            <thead>
              <tr>
                {['Rule', 'State', 'Limit', 'By'].map((label) => (
                  <th key={label} scope="col">
                    {label}
                  </th>
                ))}
                {['Granted', 'Refused', 'Would be refused'].map((label) => (
                  <th key={label} scope="col" className="desk-number">
                    {label}
                  </th>
                ))}
                <th scope="col">Last hour</th>
              </tr>
            </thead>
            <tbody>
              {own.map((rate) => (
                <Row
                  key={rate.name}
                  name={rate.name}
                  isShadow={rate.shadow === true}
                  limit={limitText(rate)}
                  by={rate.by ?? ''}
                  values={valuesOf(rate.name)}
                />
              ))}
              {caps.map(({ name, limit }) => (
                <Row
                  key={name}
                  name={name}
                  isShadow={false}
                  limit={`${number.format(limit)} held`}
                  by="cap"
                  values={valuesOf(name)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </main>
  );
}

const limitText = ({ limit, unit, windowMs }: Rate): string =>
  `${number.format(limit)}${unit === 'bytes' ? ' bytes' : ''} in ${windowText(windowMs)}`;

interface RowProps {
  readonly name: string;
  readonly isShadow: boolean;
  readonly limit: string;
  readonly by: string;
  readonly values: Record<Series, readonly number[]>;
}

function Row({ name, isShadow, limit, by, values }: RowProps) {
  return (
    <tr>
      <td>
        <b>{name}</b>
      </td>
      <td>
        <State tone={isShadow ? 'warn' : 'ok'}>{isShadow ? 'Shadow' : 'Refuses'}</State>
      </td>
      <Cell label="Limit" className="desk-nowrap">
        {limit}
      </Cell>
      <Cell label="By">{by}</Cell>
      {(['granted', 'refused', 'shadow_refused'] as const).map((series) => (
        <Cell key={series} label={series.replace('shadow_refused', 'would be refused')} className="desk-number">
          {number.format(sum(values[series]))}
        </Cell>
      ))}
      <td>
        <DecisionGraph name={name} values={values} />
      </td>
    </tr>
  );
}
