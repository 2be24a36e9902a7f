import '@xterm/xterm/css/xterm.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.js';
import { activateRememberedLanguage } from './shared/texts/language.js';
import { applyRememberedTheme } from './shared/ui/theme.js';
import './app/styles/index.css';

applyRememberedTheme();
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element with the ID "root".');
await activateRememberedLanguage();
createRoot(root).render(<App />);
