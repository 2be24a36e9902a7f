import type { Refusal } from '../api/types.js';
import { hashOf } from '../model/address.js';
import { clockTime, duration } from '../model/durations.js';
import { Cell, Name, RequestCell, State } from './parts.js';

/** Whom a refusal concerns: the user if there is one, otherwise the key or the address. */
const subjectOf = ({ user, key, address }: Refusal): string => user ?? key ?? address ?? '';

/** When a refusal ends, from the present time. */
export function endOf({ reason, time, retryAfterMs }: Refusal, nowMs: number): string {
  if (reason === 'cap' || reason === 'denied') return 'does not end';
  if (retryAfterMs === undefined) return '';
  const leftMs = Date.parse(time) + retryAfterMs - nowMs;
  return leftMs > 0 ? `in ${duration(leftMs)}` : 'has ended';
}

const WORDS: Record<Refusal['reason'], string> = {
  limit: 'Refused',
  block: 'Blocked',
  cap: 'Over the cap',
  concurrent: 'Too many at once',
  denied: 'Denied',
};

/** A rule by its name, and a deny list as one. */
export const nameOf = (rule: string): string => rule.replace(/^deny:/, 'list ');

/** @param nowMs the present time, to which ends are relative */
export function RefusalTable({ refusals, nowMs }: { refusals: readonly Refusal[]; nowMs: number }) {
  return (
    <table className="desk-table">
      <thead>
        <tr>
          {['Time', 'State', 'Rule', 'Who', 'Address', 'Request', 'Ends', ''].map((label) => (
            <th key={label} scope="col">
              {label === '' ? <span className="desk-hidden">Explanation</span> : label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {refusals.map((refusal, index) => (
          <Row key={`${refusal.time} ${refusals.length - index}`} refusal={refusal} nowMs={nowMs} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ refusal, nowMs }: { refusal: Refusal; nowMs: number }) {
  const { time, rule, reason, shadow, address = '', event = '', path = '' } = refusal;
  const subject = subjectOf(refusal);
  return (
    <tr>
      <Cell label="Time" className="desk-nowrap">
        <time dateTime={time}>{clockTime(time, nowMs)}</time>
      </Cell>
      <td>
        <State tone={shadow ? 'warn' : 'bad'}>{shadow ? 'Would be refused' : WORDS[reason]}</State>
      </td>
      <Cell label="Rule" className="desk-nowrap">
        <Name>{nameOf(rule)}</Name>
      </Cell>
      <Cell label="Who">
        <b>
          <Name>{subject}</Name>
        </b>
      </Cell>
      <Cell label="Address" className="desk-nowrap">
        <Name>{address}</Name>
      </Cell>
      <RequestCell event={event} path={path} />
      <Cell label="Ends" className="desk-nowrap">
        {endOf(refusal, nowMs)}
      </Cell>
      <td>
        <a href={hashOf('why', subject)}>Why</a>
      </td>
    </tr>
  );
}
