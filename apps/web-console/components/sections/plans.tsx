import { PlanContents } from '../../src/shared/plans/plan-view.js';
import { StalePlan } from '../../src/shared/plans/stale-plan.js';
import { TypedConfirmation } from '../../src/shared/ui/typed-confirmation.js';
import { doNothing, Section, State } from '../demo.js';
import { CHANGES, READY, REFUSED } from '../demo-plans.js';
import { useState } from 'react';

export function Plans() {
  const [typed, setTyped] = useState('');
  return (
    <Section title="Plans">
      <State name="Ready">
        <div className="hg-plan">
          <PlanContents plan={READY} title="Planned changes" />
        </div>
      </State>
      <State name="Refused">
        <div className="hg-plan">
          <PlanContents plan={REFUSED} title="Planned changes" />
        </div>
      </State>
      <State name="Changes">
        <div className="hg-plan">
          <PlanContents plan={CHANGES} title="Planned changes" />
        </div>
      </State>
      <State name="Out of date">
        <StalePlan title="web-1 changed since this plan was created" isLoading={false} onRehearse={doNothing} />
      </State>
      <State name="Confirmed by its name">
        <TypedConfirmation text="web-1" reason="Its disks are deleted." value={typed} onChange={setTyped} />
      </State>
    </Section>
  );
}
