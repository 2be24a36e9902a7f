import { i18n } from '@lingui/core';
import { createRoot } from 'react-dom/client';
import '../src/app/styles/index.css';
import { applyRememberedTheme } from '../src/shared/ui/theme.js';
import { messages } from '../texts/en.po';
import './components.css';
import { ComponentsPage } from './components-page.js';

applyRememberedTheme();
i18n.load('en', messages);
i18n.activate('en');
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element with the ID "root".');
createRoot(root).render(<ComponentsPage />);
