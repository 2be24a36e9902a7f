import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useState } from 'react';
import { Router } from 'wouter';
import { hashRouting } from '../src/shared/location/hash-location.js';
import { TextsProvider } from '../src/shared/texts/texts-provider.js';
import { SelectInput } from '../src/shared/ui/inputs.js';
import { Field } from '../src/shared/ui/field.js';
import { NotificationProvider } from '../src/shared/ui/notifications.js';
import { SidePanelOutlet } from '../src/shared/ui/side-panel.js';
import { THEMES, useTheme, type Theme } from '../src/shared/ui/theme.js';
import { Buttons } from './sections/buttons.js';
import { DataOfObjects } from './sections/data-of-objects.js';
import { Dialogs } from './sections/dialogs.js';
import { Inputs } from './sections/inputs.js';
import { Loading } from './sections/loading.js';
import { Menus } from './sections/menus.js';
import { Messages } from './sections/messages.js';
import { Panels } from './sections/panels.js';
import { Plans } from './sections/plans.js';
import { Statuses } from './sections/statuses.js';

const SECTIONS = [Buttons, Menus, Inputs, Statuses, Messages, Loading, DataOfObjects, Plans, Panels, Dialogs];

/** Every component of the console in its states, without a service. */
export function ComponentsPage() {
  const [queries] = useState(() => new QueryClient());
  return (
    <QueryClientProvider client={queries}>
      <Router {...hashRouting}>
        <TextsProvider>
          <NotificationProvider>
            <div className="hg-main" style={{ blockSize: '100vh' }}>
              <main>
                <div className="demo-page">
                  <Head />
                  {SECTIONS.map((Part) => (
                    <Part key={Part.name} />
                  ))}
                </div>
              </main>
              <SidePanelOutlet />
            </div>
          </NotificationProvider>
        </TextsProvider>
      </Router>
    </QueryClientProvider>
  );
}

function Head() {
  const [theme, setTheme] = useTheme();
  return (
    <div className="demo-head">
      <div>
        <h1>Components</h1>
        <p className="hg-note">Every component of the console in its states.</p>
      </div>
      <Field label="Theme" id="demo-theme">
        <SelectInput id="demo-theme" value={theme} onChange={(chosen) => setTheme(chosen as Theme)}>
          {THEMES.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectInput>
      </Field>
    </div>
  );
}
