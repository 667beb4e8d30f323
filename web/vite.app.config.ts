import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The application that a server sends: a script and a style sheet of their own, since served pages have none inline.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/seatrial/web/page/app",
    emptyOutDir: true,
    target: "es2022",
    reportCompressedSize: false,
    modulePreload: false,
    rollupOptions: {
      input: "app.html",
      output: { entryFileNames: "app.js", assetFileNames: "app[extname]", codeSplitting: false },
    },
  },
});
