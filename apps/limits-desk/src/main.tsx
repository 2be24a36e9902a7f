import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { applyRememberedTheme } from './ui/theme.js';
import './styles/index.css';

applyRememberedTheme();
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element with the ID "root".');
createRoot(root).render(<App />);
