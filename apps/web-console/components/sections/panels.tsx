import { useState } from 'react';
import { PlanPanel } from '../../src/shared/plans/plan-panel.js';
import { Button } from '../../src/shared/ui/button.js';
import { PeekFrame } from '../../src/shared/ui/peek-frame.js';
import { doNothing, Section, State } from '../demo.js';
import { READY } from '../demo-plans.js';

const PANELS = ['details', 'plan'] as const;

/** The panel on the right shows one of them at a time. */
export function Panels() {
  const [open, setOpen] = useState<(typeof PANELS)[number]>();
  const close = (): void => setOpen(undefined);
  return (
    <Section title="Panels">
      <State name="On the right">
        {PANELS.map((name) => (
          <Button key={name} variant="secondary" onClick={() => setOpen(name)}>
            Open the {name}
          </Button>
        ))}
      </State>
      {open === 'details' && (
        <PeekFrame name="web-1" at={3} count={40} onWalk={doNothing} onOpen={doNothing} onClose={close}>
          <p>The details of web-1</p>
        </PeekFrame>
      )}
      {open === 'plan' && (
        <PlanPanel
          title="Restart web-1"
          label="Restart web-1"
          failure="web-1 was not restarted"
          isDanger
          place="lab"
          consequence="Its users are disconnected."
          preview={() => Promise.resolve(READY)}
          run={() => Promise.resolve()}
          curl="curl -X POST http://127.0.0.1:8006/api/vms/tailvm/web-1/restart"
          onClose={close}
          onDone={doNothing}
          outcome={() => ({ title: 'web-1 has restarted', undo: doNothing })}
        />
      )}
    </Section>
  );
}
