export default {
  compilerOptions: {
    // A page shows one document that never changes, so reading it once is what is meant.
    warningFilter: (warning) => warning.code !== "state_referenced_locally",
  },
};
