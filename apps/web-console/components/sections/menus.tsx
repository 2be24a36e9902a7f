import { useState } from 'react';
import { Button } from '../../src/shared/ui/button.js';
import { CheckMenu } from '../../src/shared/ui/check-menu.js';
import { ContextMenu } from '../../src/shared/ui/context-menu.js';
import { Disclosure } from '../../src/shared/ui/disclosure.js';
import { Menu, type MenuItem } from '../../src/shared/ui/dropdown.js';
import { Tabs } from '../../src/shared/ui/tabs.js';
import { doNothing, Section, State } from '../demo.js';

const ITEMS: readonly MenuItem[] = [
  { label: 'Start', icon: 'play', reason: 'The VM is running.', run: doNothing },
  { label: 'Restart', icon: 'restart', run: doNothing },
  { label: 'Delete…', icon: 'trash', isDanger: true, afterLine: true, run: doNothing },
];

const TAGS = ['prod', 'dev', 'lab'];
const PANEL_ID = 'demo-tab';

export function Menus() {
  const [tags, setTags] = useState<string[]>(['prod']);
  const [tab, setTab] = useState<'overview' | 'events'>('overview');
  const [at, setAt] = useState<{ x: number; y: number }>();
  return (
    <Section title="Menus and tabs">
      <State name="Menu">
        <Menu label="Power" items={ITEMS} />
        <Menu label="Power" items={ITEMS} isSmall />
        <Menu label="Power" items={ITEMS} isDisabled />
      </State>
      <State name="Menu at the pointer">
        <Button variant="secondary" onClick={({ clientX: x, clientY: y }) => setAt({ x, y })}>
          Open a menu here
        </Button>
        {at && <ContextMenu label="Actions" at={at} items={ITEMS} onClose={() => setAt(undefined)} />}
      </State>
      <State name="Menu of check boxes">
        <CheckMenu
          label="Tags"
          options={() => TAGS.map((value, index) => ({ value, count: 12 - index * 5 }))}
          chosen={tags}
          onChange={setTags}
          reset={{ label: 'Clear', run: () => setTags([]) }}
        />
      </State>
      <State name="Tabs">
        <Tabs
          label="Parts of a VM"
          tabs={{ overview: 'Overview', events: 'Events' }}
          counts={{ events: 3 }}
          active={tab}
          panelId={PANEL_ID}
          onSelect={setTab}
        />
        <div id={PANEL_ID} role="tabpanel" aria-label={tab}>
          The tab {tab}
        </div>
      </State>
      <State name="Section that expands">
        <Disclosure label="More options">Rarely used options.</Disclosure>
      </State>
    </Section>
  );
}
