import { useState } from 'react';
import { useAnswer } from '../api/context.js';
import type { Explanation, Why } from '../api/types.js';
import { hashOf } from '../model/address.js';
import { Alert, Button, Field, Name, PageHead } from '../ui/parts.js';
import { RefusalTable } from '../ui/refusal-table.js';
import { useNow } from '../ui/use-now.js';
import { ExplanationCard } from './explanation-card.js';
import { LiftPlan } from './lift-plan.js';

/** Why requests of a user, an account or an address are refused, and the way to lift it. */
export function WhyPage({ subject }: { subject: string }) {
  const [typed, setTyped] = useState(subject);
  const [lifting, setLifting] = useState<Explanation>();
  const path = subject === '' ? undefined : `/why?${new URLSearchParams({ subject }).toString()}`;
  const { answer, error, reload } = useAnswer<Why>(path, 5_000);
  const nowMs = useNow();
  return (
    <>
      <main className="desk-main" id="main">
        <PageHead title="Why refused" />
        <div className="desk-stack">
          <form
            className="desk-row desk-row--end"
            role="search"
            onSubmit={(event) => {
              event.preventDefault();
              location.hash = hashOf('why', typed.trim());
            }}
          >
            <div className="desk-search">
              <Field label="User, account or address">
                <input
                  className="desk-input"
                  placeholder="@alice:example.org or 203.0.113.7"
                  value={typed}
                  onChange={({ target }) => setTyped(target.value)}
                />
              </Field>
            </div>
            <Button type="submit" kind="primary">
              Explain
            </Button>
          </form>
          {error !== undefined && <Alert>{error}</Alert>}
          {answer && <Found why={answer} nowMs={nowMs} onLift={setLifting} />}
        </div>
      </main>
      {lifting && answer && (
        <LiftPlan
          key={`${lifting.rule} ${lifting.key}`}
          lifting={lifting}
          all={answer.rules}
          onLifted={reload}
          onClose={() => setLifting(undefined)}
        />
      )}
    </>
  );
}

function Found({ why, nowMs, onLift }: { why: Why; nowMs: number; onLift: (one: Explanation) => void }) {
  const { subject, rules, refusals } = why;
  const full = rules.filter(({ isFull, shadow }) => isFull && !shadow);
  const names = [...new Set(full.map(({ rule }) => rule))].join(' and ');
  return (
    <>
      <p className="desk-second">
        {full.length === 0 ? 'No rule refuses' : `${names} ${full.length === 1 ? 'refuses' : 'refuse'}`} requests of{' '}
        <b>
          <Name>{subject}</Name>
        </b>
        {full.length === 0 ? '. A cap has no window: it refuses until something is deleted.' : '.'}
      </p>
      {[...rules]
        .sort((a, b) => Number(b.isFull) - Number(a.isFull))
        .map((one) => (
          <ExplanationCard key={`${one.rule} ${one.key}`} one={one} nowMs={nowMs} onLift={() => onLift(one)} />
        ))}
      {refusals.length > 0 && (
        <section className="desk-card" aria-label="Latest refusals">
          <h2>Latest refusals</h2>
          <RefusalTable refusals={refusals} nowMs={nowMs} />
        </section>
      )}
    </>
  );
}
