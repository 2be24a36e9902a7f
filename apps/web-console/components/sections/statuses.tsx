import { Icon } from '../../src/shared/ui/icon.js';
import { StatusLabel } from '../../src/shared/ui/status-label.js';
import { statuses, toneOf } from '../../src/shared/ui/status-tone.js';
import { TagList } from '../../src/shared/ui/tag-list.js';
import { Timestamp } from '../../src/shared/ui/timestamp.js';
import { ICONS, type IconName } from '../../src/icons.js';
import { Section, State } from '../demo.js';

const TONES = ['success', 'neutral', 'progress', 'warning', 'danger'] as const;

export const Statuses = () => (
  <Section title="States">
    {TONES.map((tone) => (
      <State key={tone} name={tone}>
        {statuses()
          .filter((status) => toneOf(status).tone === tone)
          .map((status) => (
            <StatusLabel key={status} wording={toneOf(status)} />
          ))}
      </State>
    ))}
    <State name="Last known">
      <StatusLabel wording={toneOf('Running')} isStale title="The context can't be reached." />
    </State>
    <State name="Tags">
      <TagList tags={['prod', 'web']} />
      <TagList tags={['prod', 'web', 'eu', 'billing']} />
    </State>
    <State name="Time">
      <Timestamp at="2026-01-15T10:55:00Z" />
      <Timestamp at="2026-01-15T10:55:00Z" brief />
    </State>
    <State name="Icons">
      {(Object.keys(ICONS) as IconName[]).map((name) => (
        <span key={name} title={name}>
          <Icon name={name} />
        </span>
      ))}
    </State>
  </Section>
);
