export default { displayName: 'schedules', preset: '../../jest.preset.js' };
