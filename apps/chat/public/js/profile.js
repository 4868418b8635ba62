"use strict";

// Shows a chosen picture before it is sent.
(() => {
  const field = document.querySelector("#avatar_icon");
  const avatar = document.querySelector("#avatar");
  if (!field || !avatar) return;
  field.addEventListener("change", () => {
    if (field.files.length > 0) avatar.src = URL.createObjectURL(field.files[0]);
  });
})();
