import '@patternfly/react-core/dist/styles/base.css';
import '@xterm/xterm/css/xterm.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.js';
import { applyRememberedTheme } from './shared/ui/theme.js';
// After the components, whose style it refines.
import './app/styles/index.css';

applyRememberedTheme();
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element with the id «root».');
createRoot(root).render(<App />);
