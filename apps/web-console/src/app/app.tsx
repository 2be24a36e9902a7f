import { QueryClientProvider } from '@tanstack/react-query';
import { useState } from 'react';
import { Router } from 'wouter';
import { ACTION_FORMS, CONTAINER_FORMS } from '../routes/action-forms.js';
import { LoginGate } from '../routes/login-gate.js';
import { Pages } from '../routes/pages.js';
import { ActionsProvider } from '../shared/actions/components/actions-provider.js';
import { FleetProvider } from '../shared/fleet/fleet-provider.js';
import { hashRouting } from '../shared/location/hash-location.js';
import { createQueryClient } from '../shared/queries/query-client.js';
import { TextsProvider } from '../shared/texts/texts-provider.js';
import { NotificationProvider } from '../shared/ui/notifications.js';

/** The whole console: what every page needs around it. */
export function App() {
  const [queries] = useState(createQueryClient);
  return (
    <QueryClientProvider client={queries}>
      <Router {...hashRouting}>
        <LoginGate>
          <FleetProvider>
            <TextsProvider>
              <NotificationProvider>
                <ActionsProvider forms={ACTION_FORMS} containerForms={CONTAINER_FORMS}>
                  <Pages />
                </ActionsProvider>
              </NotificationProvider>
            </TextsProvider>
          </FleetProvider>
        </LoginGate>
      </Router>
    </QueryClientProvider>
  );
}
