import { useState } from 'react';
import { sentenceOf } from '../api/client.js';
import { useClient } from '../api/context.js';
import type { ReplayReport } from '../api/types.js';
import { Alert, Button, Field, PageHead } from '../ui/parts.js';
import { ProposalResult } from './proposal-result.js';

const EXAMPLE = `[[rules]]
name = "messages"
on = ["message"]
by = "user"
limit = 60
window = "1m"
`;

/** A rule that is tried on the recorded requests. Nothing is applied. */
export function ProposalPage() {
  const client = useClient();
  const [rules, setRules] = useState(EXAMPLE);
  const [isRunning, setRunning] = useState(false);
  const [report, setReport] = useState<ReplayReport>();
  const [error, setError] = useState<string>();
  const run = async () => {
    if (isRunning) return;
    setRunning(true);
    setError(undefined);
    setReport(undefined);
    try {
      setReport(await client.send<ReplayReport>('POST', '/replay', { rules }));
    } catch (failure) {
      setError(sentenceOf(failure));
    }
    setRunning(false);
  };
  return (
    <main className="desk-main" id="main">
      <PageHead title="Try a rule" note="Whom would it have refused? Nothing is applied." />
      <div className="desk-stack">
        <form
          className="desk-card desk-stack"
          onSubmit={(event) => {
            event.preventDefault();
            void run();
          }}
        >
          <Field label="Rates, rules and exemptions, as in the configuration (TOML)">
            <textarea
              className="desk-input desk-code"
              spellCheck={false}
              value={rules}
              onChange={({ target }) => setRules(target.value)}
            />
          </Field>
          <div className="desk-row">
            <Button
              type="submit"
              kind="primary"
              off={rules.trim() === '' ? 'Write a rule first.' : undefined}
              aria-busy={isRunning || undefined}
            >
              {isRunning ? 'Replaying' : 'Try on the recorded requests'}
            </Button>
            <span className="desk-quiet">The rates of the contract apply as well, unless the text changes them.</span>
          </div>
        </form>
        {error !== undefined && <Alert>{error}</Alert>}
        {report && <ProposalResult report={report} />}
      </div>
    </main>
  );
}
