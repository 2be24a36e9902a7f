export default { displayName: 'tasks', preset: '../../jest.preset.js' };
