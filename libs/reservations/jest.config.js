export default { displayName: 'reservations', preset: '../../jest.preset.js' };
