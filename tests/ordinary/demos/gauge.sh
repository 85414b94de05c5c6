for part in $(seq 0 10 100); do
  echo "$part"
  sleep 0.3
done | dialog --gauge "Copying the files" 8 50
